// The Live page of a run out of contact, and of one that a rank holds up.
#include "gui/theme/theme.h"
#include "gui/views/lineage/job_dialog.h"
#include "tests/gui/live/followed.h"
#include "tests/support/far_run.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

/// Whether a colour is anywhere in what is drawn of it.
bool has(QWidget& widget, const QColor& color) {
  const QImage image = widget.grab().toImage();
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x)
      if (image.pixelColor(x, y) == color) return true;
  return false;
}

}  // namespace

class LiveContactTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  // The visible signs of a cut link; contact_test has the times themselves.
  void a_run_that_is_not_heard_of_says_so_and_its_figures_are_grey() {
    storage::NewRun wanted;
    wanted.name = "far";
    wanted.target = "node";
    wanted.recipe_name = "debug";
    wanted.recipe_values = {{"training.steps", "100"}};
    Followed shown(wanted);
    RankLog log(*shown.writer, shown.run, 0);
    for (int64_t step = 1; step <= 5; ++step) log.step(step, 4);
    log.feed();
    must(shown.writer->set_link(shown.run, {.heard = unixNow()}).get());
    shown.show();
    auto* banner = shown.page->findChild<RunBanner*>();
    QVERIFY(!banner->isVisible());
    QVERIFY(!shown.tile("throughputTile")->isStale());

    // Nothing more comes in: the page says it by itself.
    QVERIFY(QTest::qWaitFor([&] { return banner->isVisible(); }, 20000));
    QVERIFY2(banner->text().startsWith("No response for "), qPrintable(banner->text()));
    for (const char* name : {"lossTile", "throughputTile", "memoryTile", "timeTile"})
      QVERIFY(shown.tile(name)->isStale());

    const double heard = unixNow() - 50;
    must(shown.writer
             ->set_link(shown.run, {.heard = heard,
                                    .lost = heard + 9,
                                    .next_try = heard + 3600,
                                    .reason = "node: no answer from 10.0.0.2 port 22"})
             .get());
    QVERIFY(QTest::qWaitFor([&] { return banner->text().startsWith("Connection lost"); }, 20000));
    QVERIFY2(banner->text().contains("no answer from 10.0.0.2 port 22"),
             qPrintable(banner->text()));
    QVERIFY2(banner->text().contains("; reconnecting, next try in "), qPrintable(banner->text()));
    QVERIFY2(banner->text().contains("The figures are from "), qPrintable(banner->text()));

    // It is back, with the steps that were missing.
    for (int64_t step = 6; step <= 9; ++step) log.step(step, 3);
    log.feed();
    must(shown.writer->set_link(shown.run, {.heard = unixNow()}).get());
    QVERIFY(QTest::qWaitFor([&] { return !banner->isVisible(); }, 20000));
    QVERIFY(!shown.tile("throughputTile")->isStale());
    QTRY_COMPARE_WITH_TIMEOUT(shown.curve("Loss").size(), size_t(9), 20000);
  }

  void who_was_slow_is_grey_while_the_run_is_not_heard_of() {
    storage::NewRun wanted;
    wanted.name = "far";
    Followed shown(wanted);
    RankLog first(*shown.writer, shown.run, 0), second(*shown.writer, shown.run, 1);
    first.spans(10, 100'000);
    second.spans(10, 240'000);
    for (RankLog* log : {&first, &second}) {
      log->step(10, 4);
      log->feed();
    }
    must(shown.writer->set_link(shown.run, {.heard = unixNow() + 3600}).get());
    shown.show();
    auto* bars = shown.page->findChild<RankBars*>();
    auto* card = shown.page->findChild<StepCard*>();
    QTRY_COMPARE_WITH_TIMEOUT(card->step(), 10, 20000);
    QTRY_COMPARE(card->timeline()->rows().size(), 2u);
    QVERIFY(card->timeline()->rows()[1].warn);
    QVERIFY(has(*bars, colors().compute) && has(*bars, colors().warnText));
    QVERIFY(has(*card->findChild<QLabel*>("straggler"), colors().warnText));

    const double heard = unixNow() - 50;
    must(shown.writer->set_link(shown.run, {.heard = heard, .lost = heard + 9}).get());
    QTRY_VERIFY_WITH_TIMEOUT(!has(*bars, colors().compute), 20000);
    QVERIFY(!has(*bars, colors().warnText) && !has(*bars, colors().warn));
    QVERIFY(!has(*card->findChild<QLabel*>("straggler"), colors().warnText));
    QVERIFY(!card->timeline()->rows()[1].warn);
    QVERIFY(card->timeline()->rows()[1].note.startsWith("straggler"));

    must(shown.writer->set_link(shown.run, {.heard = unixNow() + 3600}).get());
    QTRY_VERIFY_WITH_TIMEOUT(has(*bars, colors().compute), 20000);
    QVERIFY(card->timeline()->rows()[1].warn);
  }

  void a_run_whose_job_waits() {
    Followed shown(far_run());
    const std::string words = "waits in train for free nodes; position 3";
    must(shown.writer->set_link(shown.run, {.heard = unixNow() + 3600, .waits = words}).get());
    shown.show();
    auto* banner = shown.page->findChild<RunBanner*>();
    QTRY_COMPARE_WITH_TIMEOUT(banner->text(),
                              QString("Its job waits: Waits in train for free nodes; position 3."),
                              20000);
    QVERIFY2(shown.page->subtitle().endsWith("waiting"), qPrintable(shown.page->subtitle()));
    QVERIFY(shown.action("job")->isVisible() && shown.action("stop")->isVisible());
    QVERIFY(!shown.action("checkpoint")->isVisible());
    shown.action("job")->trigger();
    auto* dialog = shown.page->window()->findChild<JobDialog*>();
    QTRY_VERIFY(dialog && dialog->isVisible());
    QVERIFY2(dialog->findChild<QLabel*>("jobWaits")->text().contains(words.c_str()),
             qPrintable(dialog->findChild<QLabel*>("jobWaits")->text()));
    auto* change = dialog->findChild<QPushButton*>("changeJob");
    QVERIFY(!change->isEnabled());
    dialog->findChild<QLineEdit*>("jobTime")->setText("30");
    QVERIFY(change->isEnabled());
    // The host is out of reach: the dialog says so, and stays.
    dialog->findChild<QPushButton*>("holdJob")->click();
    auto* outcome = dialog->findChild<QLabel*>("jobOutcome");
    QTRY_VERIFY_WITH_TIMEOUT(change->isEnabled() && !outcome->text().isEmpty(), 20000);
    QVERIFY(dialog->isVisible());
    dialog->findChild<QPushButton*>("cancel")->click();

    must(shown.writer->set_link(shown.run, {.heard = unixNow() + 3600}).get());
    QTRY_VERIFY_WITH_TIMEOUT(!shown.action("job")->isVisible() && !banner->isVisible(), 20000);
  }

  void a_stop_waits_for_the_connection_and_says_so() {
    Followed shown(far_run());
    const double heard = unixNow() - 50;
    must(shown.writer->set_link(shown.run, {.heard = heard, .lost = heard + 9}).get());
    shown.show();
    auto* banner = shown.page->findChild<RunBanner*>();
    QTRY_VERIFY(banner->isVisible());
    QTRY_VERIFY_WITH_TIMEOUT(shown.action("stop")->toolTip().startsWith("The connection is lost"),
                             20000);
    shown.action("stop")->trigger();
    const QString waits = "stopping once the connection is back";
    QVERIFY2(shown.page->subtitle().contains(waits), qPrintable(shown.page->subtitle()));
    QTRY_VERIFY2(banner->text().endsWith("Stopping once the connection is back."),
                 qPrintable(banner->text()));
    QTest::qWait(5000);  // it has been tried, and tried again
    QVERIFY2(shown.messages.isEmpty(), qPrintable(shown.messages.join('\n')));
    QVERIFY(!shown.action("stop")->isEnabled());
    QVERIFY(shown.page->subtitle().contains(waits));

    // The connection is back, and the host refuses: that is an answer.
    must(shown.writer->set_link(shown.run, {.heard = unixNow() + 3600}).get());
    QTRY_COMPARE_WITH_TIMEOUT(shown.messages.size(), 1, 20000);
    QTRY_VERIFY(shown.action("stop")->isEnabled());
  }

  void a_stopped_rank_is_named_while_the_others_wait() {
    storage::NewRun wanted;
    wanted.name = "held-up";
    Followed shown(wanted);
    RankLog first(*shown.writer, shown.run, 0), second(*shown.writer, shown.run, 1);
    for (RankLog* log : {&first, &second}) {
      log->step(1, 4);
      log->feed();
    }
    shown.show();
    auto* banner = shown.page->findChild<RunBanner*>();
    QVERIFY(!banner->isVisible());
    storage::LogLine line;
    line.level = telemetry::Level::warning;
    line.time = 1e9 + 1.5;
    line.text = "rank 1 (process 77) has been stopped by SIGSTOP for 2.0 s";
    must(shown.writer->add_line(shown.run, line).get());
    QVERIFY(QTest::qWaitFor([&] { return banner->isVisible(); }, 20000));
    QCOMPARE(banner->text(), QString("A rank lags: ") + line.text.c_str());
    for (RankLog* log : {&first, &second}) {
      log->step(2, 4);
      log->feed();
    }
    QVERIFY(QTest::qWaitFor([&] { return !banner->isVisible(); }, 20000));
    // One that lags without a word of the supervisor.
    for (int64_t step = 3; step <= 6; ++step) first.step(step, 4);
    first.feed();
    QVERIFY(QTest::qWaitFor([&] { return banner->isVisible(); }, 20000));
    QVERIFY2(banner->text().startsWith("A rank lags: rank 1 has not finished step 3; the others "),
             qPrintable(banner->text()));
  }
};

HEDDLE_WIDGET_TEST(LiveContactTest)
#include "live_contact_test.moc"
