// Compare: chosen runs side by side: what differs, curves, memory, steps. Of few runs each is a
// column with its chip on top; of many each is a row of a table. GUI thread only.
#pragma once

#include <QScrollArea>
#include <QSplitter>
#include <QStackedWidget>

#include "gui/charts/chart_board.h"
#include "gui/page.h"
#include "gui/session.h"
#include "gui/views/compare/color_legend.h"
#include "gui/views/compare/compare_choices.h"
#include "gui/views/compare/compare_timelines.h"
#include "gui/views/compare/difference_view.h"
#include "gui/views/compare/group_model.h"
#include "gui/views/compare/key_box.h"
#include "gui/views/compare/memory_bars.h"
#include "gui/views/compare/relations.h"
#include "gui/views/compare/run_chips.h"
#include "gui/views/compare/run_table.h"
#include "gui/widgets/figure_table.h"
#include "gui/widgets/segment.h"
#include "workbench/report/report_data.h"

namespace heddle::gui {

class ComparePage : public Page {
  Q_OBJECT

 public:
  explicit ComparePage(Session& session, QWidget* parent = nullptr);

  QString subtitle() const override;
  QList<QAction*> pageActions() override { return {others_, report_, copy_}; }
  QList<KeyTable> keys() const override;
  void activated() override;
  void showRun(qint64 run) override;
  void showRuns(const QList<qint64>& runs) override;
  /// Where the run's step differs from its prediction. A comparison that a person has chosen stays,
  /// with that run in it.
  void showNodes(qint64 run) override;
  void showPlans(const std::vector<PlannedRecipe>& plans) override;
  void keepLayout() override;
  void resetLayout() override;
  QJsonObject keptState() const override;
  void restoreState(const QJsonObject& state) override;
  bool isReady() const override {
    return asked_ && !reading_.running() && !newest_.running() && nodes_->isReady() &&
           board_->isReady();
  }

  const QList<qint64>& runs() const { return choices_.runs(); }

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* makeContent();
  QWidget* makeTop();
  Card* makeDifferences();
  void connectChoices();
  void arrange();
  QString layoutKey() const;
  bool isMany() const;
  /// `anyway`: also when nothing that is shown has changed.
  void read(bool anyway = true);
  void take(CompareAnswer answer);
  /// Shows what was read.
  void display();
  void showTables();
  void showGroups();
  /// The baseline if numbers are shown as differences from it; else 0.
  qint64 differencesFrom() const;
  void showCurves();
  /// An entry a run; none: they are not grouped.
  QStringList groupNames() const;
  void showMemory();
  void showSteps();
  void showHidden();
  MemoryBars::Run memoryOf(size_t run) const;
  void offerRuns();
  void offerTimelines();
  void openChooser(QWidget* at, std::vector<storage::RunSummary> all, const QList<qint64>& ticked,
                   const std::function<void(qint64, bool)>& tick);
  void copyTable();
  void writeReport();
  void describeLook(workbench::ReportQuery& query) const;

  Job newest_;
  Job reading_;
  Job listing_;
  Job reporting_;
  std::shared_ptr<CompareReader> reader_ = std::make_shared<CompareReader>();
  CompareChoices choices_;
  Plans plans_;          // of which some may be among the runs
  bool chosen_ = false;  // by the user, not by the page itself
  bool asked_ = false;
  CompareData data_;
  RunColoring coloring_;
  DifferenceModel differences_;
  RunTableModel table_{choices_};
  GroupModel groups_;
  QStackedWidget* stack_;
  QScrollArea* area_;
  QSplitter* upper_;  // what differs, and charts
  QVBoxLayout* rows_;
  QBoxLayout* steps_;  // timelines, and where they differ
  RunChips* chips_;
  QPushButton* add_;
  KeyBox* colorBy_;
  KeyBox* groupBy_;
  ColorLegend* legend_;
  QPushButton* showAll_;
  QStackedWidget* tables_;
  DifferenceView* differenceView_;
  FigureTable* groupTable_;
  Card* differenceCard_;
  Segment* keysShown_;
  Segment* numbers_;
  ChartBoard* board_;
  MemoryBars* memory_;
  Relations* relations_;
  CompareTimelines* timelines_;
  StepDifferences* nodes_;
  QAction* copy_;
  QAction* report_;
  QAction* others_;
  bool keeping_ = false;
  qint64 nodesOf_ = 0;  // to be shown once it is read
};

}  // namespace heddle::gui
