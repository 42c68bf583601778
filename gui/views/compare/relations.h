// How recipe fields and results go together over the compared runs: parallel coordinates, or one
// key against another, with their rank correlation. What is brushed is highlighted everywhere. GUI
// thread only.
#pragma once

#include "gui/views/compare/compare_choices.h"
#include "gui/views/compare/correlation.h"
#include "gui/views/compare/key_box.h"
#include "gui/views/compare/parallel_plot.h"
#include "gui/views/compare/scatter_plot.h"
#include "gui/widgets/card.h"
#include "gui/widgets/picture_menu.h"
#include "gui/widgets/segment.h"

class QMenu;
class QStackedWidget;

namespace heddle::gui {

class Relations : public Card {
  Q_OBJECT

 public:
  /// From so many runs on there is something to see.
  static constexpr size_t kMinRuns = 3;

  /// `choices` outlives the card.
  explicit Relations(CompareChoices& choices, QWidget* parent = nullptr);
  /// Keys that differ; entries as many as runs. Hides with too few runs or keys.
  void display(const storage::Comparison& comparison, ComparedKeys keys,
               const QList<RunStroke>& strokes);

 private:
  void offerAxes();
  void show();
  /// The shown plot's values, without hidden runs.
  TextTable table() const;
  void showParallel(const std::vector<PlottedRun>& runs);
  void showScatter(const std::vector<PlottedRun>& runs);
  std::vector<PlottedRun> plottedRuns() const;
  /// Over the runs that are not hidden; none for categories.
  Correlation correlationOf(const ValueAxis& x, const ValueAxis& y) const;
  /// Recipe keys and the most important results, so many as fit.
  void chooseUsualAxes();

  CompareChoices& choices_;
  std::vector<storage::RunSummary> runs_;
  ComparedKeys keys_ = std::make_shared<const std::vector<ComparedKey>>();
  QList<RunStroke> strokes_;
  QStringList axes_;  // names of the chosen keys
  bool choseAxes_ = false;
  Segment* kind_;
  QWidget* scatterKeys_;
  KeyBox* x_;
  KeyBox* y_;
  QPushButton* axesButton_;
  QStackedWidget* plots_;
  ParallelPlot* parallel_;
  ScatterPlot* scatter_;
};

}  // namespace heddle::gui
