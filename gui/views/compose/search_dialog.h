// The search for the recipe's best layout: what is fixed, the front as it fills, why the others are
// not on it. A click on a layout takes it over.
#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QToolButton>

#include "gui/models/layout_search.h"
#include "gui/models/recipe_document.h"
#include "gui/views/compose/front_chart.h"
#include "gui/views/compose/mesh_view.h"
#include "gui/widgets/dialog.h"
#include "gui/widgets/stacked_bar.h"

namespace heddle::gui {

class SearchDialog : public Dialog {
  Q_OBJECT

 public:
  /// `engine`: the program that searches.
  SearchDialog(RecipeDocument& document, const QString& engine, QWidget* parent);

 private:
  struct Pin {
    QString key;
    QToolButton* button;
  };

  QWidget* makePins();
  QWidget* makeFront();
  QWidget* makeHovered();
  void startOrCancel();
  SearchQuestion question() const;
  void refresh();
  void showWhy();
  void showHovered(int index);
  void takeOver(int index);

  RecipeDocument& document_;
  LayoutSearch search_;
  QList<Pin> pins_;
  QLineEdit* limit_;
  FrontChart* chart_;
  QLabel *state_, *words_, *figures_;
  StackedBar* step_;
  MeshView* mesh_;
  QVBoxLayout* why_;
  QPushButton *go_, *close_;
};

/// The recipe with a layout that was found, as one undoable edit.
Result<> take(RecipeDocument& document, const plan::Found& found);

}  // namespace heddle::gui
