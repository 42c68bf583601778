// Everything on the Compose page: form, model, buckets, prediction, timeline, the recipe's text.
// One document behind all of them.
#pragma once

#include <QLabel>
#include <QScrollArea>
#include <QSplitter>
#include <QWidget>

#include "gui/models/recipe_document.h"
#include "gui/models/recipe_prediction.h"
#include "gui/views/compose/fault_list.h"
#include "gui/views/compose/neighbours.h"
#include "gui/views/compose/prediction_panel.h"
#include "gui/views/compose/recipe_editor.h"
#include "gui/views/compose/recipe_form.h"
#include "gui/views/compose/step_panel.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {

class ComposeView : public QWidget {
  Q_OBJECT

 public:
  /// `prediction` is of `document`.
  ComposeView(RecipeDocument& document, RecipePrediction& prediction, QWidget* parent = nullptr);
  /// Goes to the first field that has a fault, where there is one.
  void focusFirstFault();
  /// In the form, below the keys of the data.
  void putBelowData(QWidget* widget) { form_->putBelow(QStringLiteral("Data"), widget); }
  /// Keeps the sizes of its parts in the settings, as they were the last time and from now on.
  void keepLayout();
  void resetLayout();
  /// Marks a place of the text.
  void showPlace(int line, int column) { editor_->goTo(line, column); }
  /// As small as it goes without the model's picture.
  QSize minimumSizeHint() const override { return {960, 560}; }

 Q_SIGNALS:
  /// See PredictionPanel.
  void compareRequested();
  /// The outcome of an export of the timeline.
  void saved(const QString& words, bool good);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* makeForm(QWidget* parent);
  QWidget* makeTop();
  QWidget* makeText();
  void refresh();
  /// Gives its parts the sizes that are usual at this size.
  void divide();
  /// Shows predictions for a field's next values; for other modes of an exception.
  void showNeighbours(const KeyField& field);
  void showNeighbours(const LayerException& exception, const QString& name, const QWidget* at);
  void openNeighbours(const QString& title, const QString& now, const QList<Neighbour>& neighbours,
                      const QString& edit, const QWidget* at);

  RecipeDocument& document_;
  RecipePrediction& prediction_;
  bool keeps_ = false;
  QSplitter* rows_;    // the recipe, above its prediction
  QSplitter* bottom_;  // timeline and text
  RecipeForm* form_;
  QFrame* formFrame_;
  QScrollArea* formScroll_;
  PredictionPanel* panel_;
  StepPanel* step_;
  ElidedLabel* fileName_;
  QLabel* verdict_;
  RecipeEditor* editor_;
};

}  // namespace heddle::gui
