// The search for the recipe's best layout: the fixed keys, the front as it fills, why the others
// are not on it; or how it trains on several numbers of ranks. A click on a layout takes it over.
#pragma once

#include <QLabel>
#include <QPushButton>
#include <QStackedLayout>

#include "gui/models/layout_search.h"
#include "gui/models/recipe_document.h"
#include "gui/views/compose/counts_table.h"
#include "gui/views/compose/found_step.h"
#include "gui/views/compose/front_chart.h"
#include "gui/views/compose/mesh_view.h"
#include "gui/views/compose/search_fields.h"
#include "gui/widgets/dialog.h"
#include "gui/widgets/segment.h"

namespace heddle::gui {

class SearchDialog : public Dialog {
  Q_OBJECT

 public:
  /// `engine`: the program that searches. `client` plans the layout under the mouse again, for
  /// its timeline.
  SearchDialog(RecipeDocument& document, const QString& engine, PlanClient& client,
               QWidget* parent);

 private:
  /// The choices of the segment.
  enum Kind { kLayouts, kCounts };

  QWidget* makeFound();
  QWidget* makeFront();
  QWidget* makeHovered();
  bool isCounting() const { return kind_->current() == kCounts; }
  void startOrCancel();
  void refresh();
  QString frontWords();
  QString countsWords();
  void complain(const QString& why);
  QString whyNothing() const;
  void showWhy();
  void showHovered(int index);
  void takeOver(const plan::Found& found);

  RecipeDocument& document_;
  PlanClient& client_;
  LayoutSearch search_;
  plan::SearchQuestion asked_;
  QString trouble_;  // why the last search or take-over came to nothing
  Segment* kind_;
  SearchFields* fields_;
  QStackedLayout* found_;
  FrontChart* chart_;
  CountsTable* counts_;
  QLabel *state_, *words_, *figures_;
  FoundStep* step_;
  MeshView* mesh_;
  QVBoxLayout* why_;
  QPushButton *go_, *close_;
};

/// The recipe with a layout that was found, as one undoable edit.
Result<> take(RecipeDocument& document, const plan::Found& found);

}  // namespace heddle::gui
