// Live: one run as it trains, or as it was: numbers, curves, timelines by rank, log; stop and kill.
#pragma once

#include <QGridLayout>
#include <QSplitter>
#include <QStackedLayout>
#include <QStackedWidget>

#include "gui/charts/line_chart.h"
#include "gui/page.h"
#include "gui/session.h"
#include "gui/views/lineage/end_dialog.h"
#include "gui/views/lineage/run_asking.h"
#include "gui/views/live/live_charts.h"
#include "gui/views/live/live_tiles.h"
#include "gui/views/live/live_update.h"
#include "gui/views/live/log_card.h"
#include "gui/views/live/rank_card.h"
#include "gui/views/live/run_banner.h"
#include "gui/views/live/run_picker.h"
#include "gui/views/live/samples_card.h"
#include "gui/views/live/source_strip.h"
#include "gui/views/live/step_card.h"
#include "workbench/alerts.h"

namespace heddle::gui {

class LivePage : public Page {
  Q_OBJECT

 public:
  explicit LivePage(Session& session, QWidget* parent = nullptr);

  QString subtitle() const override;
  QWidget* headerWidget() override { return picker_; }
  QList<QAction*> pageActions() override {
    return {jobAction_, checkpoint_, stop_, kill_, resume_, fork_};
  }
  QList<KeyTable> keys() const override {
    return {TimelineWidget::keys(), LineChart::keys(), LogSearch::keys()};
  }
  void activated() override { refresh(); }
  void showRun(qint64 run) override;
  void keepLayout() override;
  void resetLayout() override;
  QJsonObject keptState() const override;
  void restoreState(const QJsonObject& state) override;
  bool isReady() const override { return loaded_ && !job_.running() && charts_->isReady(); }

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;

 private:
  void build();
  void makeTexts();
  void arrange();
  void shareHeight();
  void makeActions();
  void refresh();
  void restart(storage::RunId run);
  void take(LiveUpdate update);
  void findLeft();
  void takeSteps(const std::vector<StepPoint>& points);
  void showRanks();
  void showSources();
  void showState();
  void showContact();
  QString heldUp() const;
  QStringList alertWords() const;
  void tick();
  /// The part of a run's recipe that the page needs, read once.
  struct ReadRecipe {
    storage::RunId run = 0;
    bool saves = false;  // checkpoints
    recipe::Mesh mesh;
    std::vector<recipe::DataSource> sources;
    QString prompt;  // of the samples
  };
  const ReadRecipe& readRecipe();
  void checkpoint();
  void stop();
  void confirm(EndDialog::How how);
  void control(const QString& asked, const storage::RunDetail& run, RunAsking::Ask ask);
  QString stopTip() const;

  QStackedLayout* stack_ = nullptr;
  QSplitter* halves_ = nullptr;  // curves above, timelines and log below
  QGridLayout* upper_ = nullptr;
  QGridLayout* lower_ = nullptr;
  RunPicker* picker_ = nullptr;
  RunBanner* banner_ = nullptr;
  LiveTiles* tiles_ = nullptr;
  SourceStrip* sources_ = nullptr;
  LiveCharts* charts_ = nullptr;
  StepCard* stepCard_ = nullptr;
  ReadRecipe read_;
  RankCard* ranks_ = nullptr;
  QStackedWidget* texts_ = nullptr;  // the log, or samples in its place
  LogCard* log_ = nullptr;
  SamplesCard* samples_ = nullptr;
  QAction* jobAction_ = nullptr;
  QAction* checkpoint_ = nullptr;
  QAction* stop_ = nullptr;
  QAction* kill_ = nullptr;
  QAction* resume_ = nullptr;
  QAction* fork_ = nullptr;

  RunAsking* asking_ = nullptr;
  Job job_;
  Job checkpointing_;
  Job leaving_;
  LiveCursor cursor_;
  StepPoints steps_;
  std::optional<storage::RunDetail> run_;
  std::vector<storage::LogGap> gaps_;
  RunPace pace_;
  std::optional<Exposed> exposed_;
  Contact contact_;
  std::optional<storage::LogLine> rankWarning_;              // the supervisor's newest about a rank
  std::map<workbench::AlertKind, workbench::Alert> alerts_;  // that are not over
  double stepTime_ = 0;                                      // of the newest step, as its host says
  bool bare_ = false;    // it has no timeline, and will have none
  bool picked_ = false;  // by the user: the page does not move on by itself
  bool again_ = false;   // something changed while a question was under way
  bool loaded_ = false;
  QString left_;  // what a stopped run has kept; empty: not looked for
};

}  // namespace heddle::gui
