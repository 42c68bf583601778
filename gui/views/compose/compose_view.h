// Everything on the Compose page: form, model, buckets, prediction, timeline, the recipe's text.
// One document behind all of them.
#pragma once

#include <QLabel>
#include <QScrollArea>
#include <QSplitter>
#include <QWidget>

#include "gui/models/recipe_document.h"
#include "gui/models/recipe_prediction.h"
#include "gui/views/compose/bucket_bands.h"
#include "gui/views/compose/fault_list.h"
#include "gui/views/compose/model_view.h"
#include "gui/views/compose/prediction_panel.h"
#include "gui/views/compose/recipe_editor.h"
#include "gui/views/compose/recipe_form.h"
#include "gui/views/compose/step_panel.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/segment.h"

namespace heddle::gui {

class ComposeView : public QWidget {
  Q_OBJECT

 public:
  /// `prediction` is of `document`.
  ComposeView(RecipeDocument& document, RecipePrediction& prediction, QWidget* parent = nullptr);
  /// Goes to the first field that has a fault, where there is one.
  void focusFirstFault();
  /// Marks a place of the text.
  void showPlace(int line, int column) { editor_->goTo(line, column); }
  /// As small as it goes without the model's picture.
  QSize minimumSizeHint() const override { return {960, 560}; }

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* makeForm();
  QWidget* makeModel();
  QWidget* makeTop();
  QWidget* makeText();
  void refresh();
  void refreshBuckets();
  void chooseWrapping(int mode);
  /// The resolved recipe with the tokenizer's vocabulary where it names none.
  recipe::Recipe shown() const;
  /// What stands under the buckets: a fault of the wrapping, or what can be done with them.
  QString bucketsNote(const recipe::Recipe& recipe, const BucketList& list) const;

  RecipeDocument& document_;
  RecipePrediction& prediction_;
  QSplitter* rows_;    // what the recipe is, above what comes of it
  QSplitter* bottom_;  // timeline and text
  RecipeForm* form_;
  QScrollArea* formScroll_;
  ElidedLabel* parameters_;
  QLabel* wrappingLabel_;
  Segment* wrapping_;
  QLabel* bucketCount_;
  ModelView* model_;
  BucketBands* bands_;
  QToolButton* every_;
  QLabel* bandsNote_;
  PredictionPanel* panel_;
  ElidedLabel* fileName_;
  QLabel* verdict_;
  RecipeEditor* editor_;
};

}  // namespace heddle::gui
