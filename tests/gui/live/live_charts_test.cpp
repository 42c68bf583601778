// The curves of the Live page: of the run, of those before it, of those drawn over it; what was
// predicted.
#include "gui/views/live/live_charts.h"

#include <QLineEdit>
#include <QPushButton>
#include <QTest>

#include "gui/settings.h"
#include "gui/theme/theme.h"
#include "tests/gui/live/followed.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

class LiveChartsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }
  void init() { openSettings()->clear(); }

  // Its parent's own parent, too; what these trained after the checkpoint is another branch.
  void a_resumed_runs_charts_begin_with_its_parents_curves() {
    QTemporaryDir folder;
    Shown shown(folder);
    auto writer = shown.follower();
    storage::NewRun wanted;
    const auto train = [&](const char* name, int64_t first, int64_t last, double loss) {
      wanted.name = name;
      const storage::RunId run = must(writer->create_run(wanted).get()).id;
      RankLog log(*writer, run, 0);
      for (int64_t step = first; step <= last; ++step) log.step(step, loss);
      log.feed();
      wanted.lineage = storage::Lineage{storage::Lineage::Kind::resume, run, name, 0};
      return run;
    };
    must(writer->set_state(train("first", 1, 30, 5), storage::RunState::stopped).get());
    wanted.lineage->step = 20;
    must(writer->set_state(train("second", 21, 50, 4), storage::RunState::stopped).get());
    wanted.lineage->step = 40;
    must(writer->set_state(train("third", 41, 60, 3), storage::RunState::running).get());
    shown.show();
    for (const char* title : {"Loss", "Tokens per second", "Resident memory"}) {
      const LineChart* chart = shown.chart(title);
      QTRY_COMPARE(chart->curves(), 3);
      QCOMPARE(chart->series(0).x().front(), 41.0);
      QCOMPARE(QStringList({chart->name(1), chart->name(2)}), QStringList({"first", "second"}));
      QCOMPARE(chart->series(1).x().front(), 1.0);
      QCOMPARE(chart->series(1).x().back(), 20.0);
      QCOMPARE(chart->series(2).x().front(), 21.0);
      QCOMPARE(chart->series(2).x().back(), 40.0);
    }
    QCOMPARE(shown.curve("Loss", 1).y()[19], 5.0);
    QCOMPARE(shown.curve("Loss", 2).y()[0], 4.0);
    // A fork is a branch of its own.
    wanted.lineage->kind = storage::Lineage::Kind::fork;
    const storage::RunId fork = train("fork", 51, 60, 2);
    shown.page->showRun(fork);
    QTRY_VERIFY(shown.page->isReady());
    QTRY_COMPARE(shown.curve("Loss").size(), size_t(10));
    QCOMPARE(shown.chart("Loss")->curves(), 1);
  }

  void the_runs_that_are_drawn_over_it_are_ticked_and_kept() {
    QTemporaryDir folder;
    QJsonObject kept;
    storage::RunId run = 0, other = 0;
    {
      Shown shown(folder);
      auto writer = shown.follower();
      storage::NewRun wanted;
      const auto train = [&](const char* name, int64_t steps) {
        wanted.name = name;
        const storage::RunId made = must(writer->create_run(wanted).get()).id;
        RankLog log(*writer, made, 0);
        for (int64_t step = 1; step <= steps; ++step) log.step(step, 3);
        log.feed();
        return made;
      };
      other = train("another", 8);
      must(writer->set_state(other, storage::RunState::done).get());
      train("the third", 5);
      run = train("shown", 4);
      must(writer->set_state(run, storage::RunState::running).get());
      shown.show();
      QTRY_COMPARE_WITH_TIMEOUT(shown.curve("Loss").size(), size_t(4), 20000);
      QTest::mouseClick(shown.page->findChild<QPushButton*>("addRun"), Qt::LeftButton);
      QTRY_VERIFY_WITH_TIMEOUT(QApplication::activePopupWidget(), 20000);
      auto* chooser = QApplication::activePopupWidget();
      auto* field = chooser->findChild<QLineEdit*>();
      QTest::keyClicks(field, "another");
      QTest::keyClick(field, Qt::Key_Return);
      QTest::keyClick(chooser, Qt::Key_Escape);
      QTRY_COMPARE_WITH_TIMEOUT(shown.curve("Loss", 1).size(), size_t(8), 20000);
      QCOMPARE(shown.chart("Loss")->name(0), QString("shown"));
      QCOMPARE(shown.chart("Loss")->name(1), QString("another"));
      QCOMPARE(shown.tile("timeTile")->note(), QString("step 4"));  // of the shown one
      kept = shown.page->keptState();
    }
    Shown again(folder);
    again.page->restoreState(kept);
    again.show();
    again.page->showRun(run);
    QTRY_COMPARE_WITH_TIMEOUT(again.curve("Loss", 1).size(), size_t(8), 20000);
    // Turned to the other, the page draws it once.
    again.page->showRun(other);
    QTRY_COMPARE_WITH_TIMEOUT(again.curve("Loss").size(), size_t(8), 20000);
    QTRY_COMPARE_WITH_TIMEOUT(again.chart("Loss")->curves(), 1, 20000);
  }

  // Added runs can be drawn as their mean and range, and as differences from the shown run.
  void added_runs_are_a_group_and_the_shown_run_their_baseline() {
    storage::NewRun wanted;
    wanted.name = "shown";
    Followed shown(wanted);
    std::vector<storage::RunId> runs{shown.run};
    for (const char* name : {"second", "third"}) {
      wanted.name = name;
      runs.push_back(must(shown.writer->create_run(wanted).get()).id);
    }
    double loss = 3;
    for (const storage::RunId run : runs) {
      RankLog log(*shown.writer, run, 0);
      for (int64_t step = 1; step <= 4; ++step) log.step(step, loss);
      log.feed();
      loss += 1;
    }
    shown.show();
    shown.page->showRun(shown.run);
    auto* chart = dynamic_cast<MetricChart*>(shown.chart("Loss"));
    QVERIFY(chart && !chart->hasBaseline() && !chart->hasGroups());
    QTRY_COMPARE_WITH_TIMEOUT(chart->curves(), 1, 20000);
    auto* charts = shown.page->findChild<LiveCharts*>();
    charts->setAdded({runs[1], runs[2]});
    charts->setRuns(must(must(storage::Reader::open(shown.path)).runs()));
    QTRY_COMPARE_WITH_TIMEOUT(chart->curves(), 3, 20000);  // each as itself
    QVERIFY(chart->hasBaseline() && chart->hasGroups());
    ChartSpec spec = chart->spec();
    spec.aggregate = true;
    chart->setSpec(spec);
    QTRY_COMPARE_WITH_TIMEOUT(chart->curves(), 2, 20000);
    spec.aggregate = false;
    spec.difference = true;
    chart->setSpec(spec);
    QTRY_VERIFY_WITH_TIMEOUT(chart->curves() == 2 && chart->series(0).size() == 4, 20000);
    QCOMPARE(chart->series(0).lastY(), 1.0);
    QCOMPARE(chart->series(1).lastY(), 2.0);
  }

  void validation_loss_has_a_chart_once_the_run_reports_it() {
    storage::NewRun wanted;
    wanted.name = "validated";
    Followed shown(wanted);
    RankLog log(*shown.writer, shown.run, 0);
    log.step(1, 4);
    log.feed();
    shown.show();
    QVERIFY(!shown.chart("Validation loss"));
    log.add(telemetry::Step{2, 1e9, {{"loss", 4}, {"validation_loss", 5}}});
    log.feed();
    QTRY_COMPARE_WITH_TIMEOUT(shown.curve("Validation loss").size(), size_t(1), 20000);
    QCOMPARE(shown.curve("Validation loss").lastY(), 5.0);
  }

  void what_was_predicted_is_a_line_and_where_it_was_left_a_mark() {
    storage::NewRun wanted;
    wanted.name = "predicted";
    Followed shown(wanted);
    must(shown.writer
             ->set_results(shown.run, {{"predicted_step_seconds", 0.3},
                                       {"predicted_tokens_per_second_per_rank", 900.0},
                                       {"predicted_peak_bytes", 4.0 * (1LL << 30)}})
             .get());
    RankLog log(*shown.writer, shown.run, 0);
    for (int64_t step = 1; step <= 9; ++step) log.step(step, 3);  // of 0.5 s, 3 GiB
    log.feed();
    shown.show();
    QTRY_VERIFY_WITH_TIMEOUT(shown.chart("Tokens per second")->mark(), 20000);
    QCOMPARE(shown.chart("Tokens per second")->mark()->label,
             QString("step 4: 66.7 % longer than predicted"));
    QVERIFY(!shown.chart("Resident memory")->mark());
  }
};

HEDDLE_WIDGET_TEST(LiveChartsTest)
#include "live_charts_test.moc"
