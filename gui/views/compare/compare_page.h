// Compare: chosen runs side by side: differences, overlaid curves, aligned timelines.
#pragma once

#include <QComboBox>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedWidget>

#include "gui/charts/chart_group.h"
#include "gui/charts/line_chart.h"
#include "gui/page.h"
#include "gui/session.h"
#include "gui/theme/run_colors.h"
#include "gui/timeline/timeline_view.h"
#include "gui/views/compare/compare_data.h"
#include "gui/views/compare/difference_view.h"
#include "gui/views/compare/memory_bars.h"
#include "gui/views/compare/run_chips.h"
#include "gui/views/compare/step_differences.h"
#include "gui/views/compare/step_statistics.h"
#include "gui/widgets/card.h"
#include "gui/widgets/segment.h"

namespace heddle::gui {

class ComparePage : public Page {
  Q_OBJECT

 public:
  explicit ComparePage(Session& session, QWidget* parent = nullptr);

  QString subtitle() const override;
  QList<QAction*> pageActions() override { return {copy_}; }
  void activated() override;
  void showRun(qint64 run) override;
  void showRuns(const QList<qint64>& runs) override;
  /// Where the run's step differs from its prediction. A comparison that a person has chosen stays,
  /// with that run in it.
  void showNodes(qint64 run) override;
  void showPlans(const std::vector<PlannedRecipe>& plans) override;
  void keepLayout() override;
  bool isReady() const override {
    return asked_ && !reading_.running() && !newest_.running() && nodes_->isReady();
  }

  /// All that were chosen; the first kMaxCompared of them are drawn.
  const QList<qint64>& runs() const { return runs_; }

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* makeContent();
  void arrange();
  void balance();
  Card* makeDifferences();
  QWidget* makeTimelines();
  void setRuns(const QList<qint64>& runs);
  /// `anyway`: also when nothing that is shown has changed.
  void read(bool anyway = true);
  struct Answer {
    Present present;
    std::optional<CompareData> data;  // none: nothing has changed
  };
  void take(Answer answer);
  void display(CompareData data);
  void showControls();
  void showCurves(const CompareData& data);
  void showMemory();
  void showTimelines();
  /// Whether a row of the timelines is the run's measured step; whether one says what it was
  /// predicted to be: of few runs, and of plans.
  bool showsMeasured(size_t run) const { return !isPlanned(data_.runs[run].steps->id); }
  bool showsPredicted(size_t run) const;
  bool hasPlansAlone() const;
  void showStatistics();
  void showSteps();
  /// Highlights the chosen row's spans in the timelines.
  void highlight();
  void offerRuns();
  QString layoutKey() const;

  Job newest_;
  Job reading_;
  Job listing_;
  QList<qint64> runs_;
  Plans plans_;          // of which some may be among the runs
  bool chosen_ = false;  // by the user, not by the page itself
  bool asked_ = false;
  CompareData data_;
  Present present_;
  QList<RunStroke> strokes_;  // of the runs that are drawn
  DifferenceModel differences_;
  ChartGroup charts_;
  QStackedWidget* stack_;
  QScrollArea* area_;
  QSplitter* upper_;
  QVBoxLayout* rows_;
  QBoxLayout* steps_;  // timelines, and where they differ
  QWidget* more_;      // throughput and memory: next to the loss, or below all
  RunChips* chips_;
  QLabel* tooMany_;
  QLabel* timelinesOf_;
  QComboBox* step_;
  QComboBox* rank_;
  Segment* keys_;
  QWidget* curves_;
  LineChart* loss_;
  LineChart* lossDifference_;
  LineChart* rate_;
  MemoryBars* memory_;
  TimelineWidget* timelines_;
  Card* timelineCard_;
  StepStatistics* statistics_;
  std::vector<StepDifferences::Choice> drawn_;  // by row of the timelines
  StepDifferences* nodes_;
  QAction* copy_;
  bool keeping_ = false;
  qint64 nodesOf_ = 0;  // to be shown once it is read
};

}  // namespace heddle::gui
