// The log of a run in Live: levels, search, copy, by mouse and by keyboard; samples of text in its
// place; alerts in the banner until they are over.
#include <QApplication>
#include <QClipboard>
#include <QLabel>
#include <QPushButton>

#include "gui/theme/theme.h"
#include "tests/gui/live/followed.h"
#include "tests/support/test_class.h"
#include "workbench/alerts.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

storage::NewRun wantedRun() {
  storage::NewRun wanted;
  wanted.name = "spoken";
  wanted.target = "this-machine";
  wanted.recipe = "[training]\nsteps = 100\n";
  return wanted;
}

template <typename Widget>
Widget* named(QWidget* in, const QString& name) {
  for (Widget* each : in->findChildren<Widget*>())
    if (each->accessibleName() == name) return each;
  return nullptr;
}

QPushButton* buttonOf(QWidget* in, const QString& text) {
  for (QPushButton* each : in->findChildren<QPushButton*>())
    if (each->text() == text) return each;
  return nullptr;
}

}  // namespace

class LogTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void levels_are_a_filter_with_their_counts() {
    Followed shown(wantedRun());
    RankLog log(*shown.writer, shown.run, 0);
    log.add(telemetry::Log{1e9, telemetry::Level::info, "captured"});
    log.add(telemetry::Log{1e9 + 1, telemetry::Level::warning, "the disk is slow"});
    log.add(telemetry::Log{1e9 + 2, telemetry::Level::error, "the disk is full"});
    log.feed();
    shown.show();
    auto* card = shown.page->findChild<LogCard*>();
    QTRY_VERIFY_WITH_TIMEOUT(card->text().contains("full"), 20000);
    auto* levels = card->findChild<Segment*>();
    QCOMPARE(levels->button(1)->text(), QString("warnings 1"));
    QCOMPARE(levels->button(2)->text(), QString("errors 1"));
    QTest::mouseClick(levels->button(1), Qt::LeftButton);
    QVERIFY(!card->text().contains("captured"));
    QVERIFY(card->text().contains("slow"));
    QVERIFY(card->text().contains("full"));
    QTest::mouseClick(levels->button(2), Qt::LeftButton);
    QVERIFY(!card->text().contains("slow"));
    QVERIFY(card->text().contains("full"));
  }

  void search_counts_the_places_and_goes_from_one_to_the_next() {
    Followed shown(wantedRun());
    RankLog log(*shown.writer, shown.run, 0);
    for (int i = 0; i < 40; ++i)
      log.add(telemetry::Log{1e9 + i, telemetry::Level::info,
                             i % 10 == 0 ? "Saved a checkpoint" : "something else"});
    // A long line is folded; what is in its hidden part is found all the same.
    log.add(telemetry::Log{1e9 + 50, telemetry::Level::info,
                           "plan: " + std::string(150, 'x') + "; a needle"});
    log.feed();
    shown.show();
    shown.page->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(shown.page.get()));
    auto* card = shown.page->findChild<LogCard*>();
    QTRY_VERIFY_WITH_TIMEOUT(card->text().contains("plan:"), 20000);
    QVERIFY(!card->text().contains("needle"));
    card->takeFocus();
    QVERIFY(shown.page->find());  // Ctrl+F of the window
    auto* field = named<SearchField>(card, "Search the log");
    QVERIFY(field && field->isVisible());
    const auto place = [&](const QString& text) {
      return named<QLabel>(card, "Place: " + text) != nullptr;
    };
    QTest::keyClicks(field, "checkpoint");
    QVERIFY(place("4 of 4"));
    QTest::keyClick(field, Qt::Key_Return, Qt::ShiftModifier);
    QVERIFY(place("3 of 4"));
    QTest::keyClick(field, Qt::Key_Return);
    QTest::keyClick(field, Qt::Key_Return);
    QVERIFY(place("1 of 4"));
    QVERIFY(!card->followsEnd());
    // A line that comes in is counted; the place stays.
    log.add(telemetry::Log{1e9 + 60, telemetry::Level::info, "checkpoint again"});
    log.feed();
    QTRY_VERIFY_WITH_TIMEOUT(place("1 of 5"), 20000);
    QTest::mouseClick(named<QToolButton>(card, "Previous place (Shift+Enter)"), Qt::LeftButton);
    QVERIFY(place("5 of 5"));
    field->selectAll();
    QTest::keyClicks(field, "needle");
    QVERIFY(place("1 of 1"));
    field->selectAll();
    QTest::keyClicks(field, "nowhere");
    QVERIFY(place("none"));
    QTest::keyClick(field, Qt::Key_Escape);
    QVERIFY(!field->isVisible());
    QVERIFY(!card->text().contains("needle"));
  }

  void all_lines_are_copied_or_the_selected_ones() {
    Followed shown(wantedRun());
    RankLog log(*shown.writer, shown.run, 0);
    log.add(telemetry::Log{1e9, telemetry::Level::info, "first"});
    log.add(telemetry::Log{1e9 + 1, telemetry::Level::info, "second"});
    log.feed();
    shown.show();
    auto* card = shown.page->findChild<LogCard*>();
    QTRY_VERIFY_WITH_TIMEOUT(card->text().contains("second"), 20000);
    auto* copy = named<QToolButton>(card, "Copy the selected lines, or all");
    QTest::mouseClick(copy, Qt::LeftButton);
    const QString all = QGuiApplication::clipboard()->text();
    QVERIFY2(all.contains("[0] first\n") && all.endsWith("[0] second\n"), qPrintable(all));
    auto* view = named<QTextBrowser>(card, "Log");
    view->setFocus();
    QTest::keyClick(view, Qt::Key_Home, Qt::ControlModifier);
    QTextCursor line = view->textCursor();
    line.movePosition(QTextCursor::Start);
    line.movePosition(QTextCursor::EndOfBlock, QTextCursor::KeepAnchor);
    view->setTextCursor(line);
    QTest::mouseClick(copy, Qt::LeftButton);
    QVERIFY(QGuiApplication::clipboard()->text().endsWith("first"));
  }

  void samples_are_read_step_by_step_in_the_logs_place() {
    storage::NewRun wanted = wantedRun();
    wanted.recipe += "[validation]\nprompt = \"Once\"\n";
    Followed shown(wanted);
    RankLog log(*shown.writer, shown.run, 0);
    const auto sample = [&](int64_t step, const char* how, const char* text) {
      log.add(telemetry::Log{1e9 + static_cast<double>(step), telemetry::Level::info,
                             telemetry::sample_line({step, how, text})});
    };
    shown.show();
    auto* card = shown.page->findChild<LogCard*>();
    auto* button = buttonOf(card, "samples");
    QVERIFY(!button->isVisible());
    sample(10, "the likeliest tokens", "Once the the");
    sample(10, "temperature 0.8", "Once frog");
    sample(20, "the likeliest tokens", "Once upon a time");
    log.feed();
    QTRY_VERIFY_WITH_TIMEOUT(button->isVisible(), 20000);
    QTest::mouseClick(button, Qt::LeftButton);
    auto* samples = shown.page->findChild<SamplesCard*>();
    QVERIFY(samples->isVisible());
    QVERIFY(!card->isVisible());
    QCOMPARE(samples->step(), 20);
    QCOMPARE(samples->text(), QString("the likeliest tokens\nOnce upon a time"));
    QTest::mouseClick(named<QToolButton>(samples, "Samples of the step before"), Qt::LeftButton);
    QCOMPARE(samples->text(),
             QString("the likeliest tokens\nOnce the the\ntemperature 0.8\nOnce frog"));
    // The step that one reads stays; the newest is one key away.
    sample(30, "the likeliest tokens", "Once upon a time there was");
    log.feed();
    auto* chooser = named<QComboBox>(samples, "Step of the samples");
    QTRY_COMPARE_WITH_TIMEOUT(chooser->count(), 3, 20000);
    QCOMPARE(samples->step(), 10);
    QTest::keyClick(chooser, Qt::Key_End);
    QCOMPARE(samples->step(), 30);
    QTest::mouseClick(buttonOf(samples, "log"), Qt::LeftButton);
    QVERIFY(card->isVisible());
  }

  void alerts_are_in_the_banner_until_they_are_over() {
    using workbench::AlertKind;
    Followed shown(wantedRun());
    shown.show();
    auto* banner = shown.page->findChild<RunBanner*>();
    const auto add = [&](const workbench::Alert& alert) {
      must(shown.writer->add_line(shown.run, workbench::line_of(alert)).get());
    };
    add({AlertKind::spike, false, "step 40: loss 9.410"});
    QTRY_VERIFY_WITH_TIMEOUT(banner->text().contains("Loss spike: step 40: loss 9.410."), 20000);
    add({AlertKind::silence, false, "none has ended for 130 s"});
    QTRY_VERIFY_WITH_TIMEOUT(banner->text().contains("2 alerts"), 20000);
    add({AlertKind::silence, true, "step 41 has ended"});
    QTRY_VERIFY_WITH_TIMEOUT(!banner->text().contains("No step"), 20000);
    QVERIFY(banner->text().contains("Loss spike"));
    QVERIFY(shown.page->findChild<LogCard*>()->text().contains("alert, loss spike"));
  }
};

HEDDLE_WIDGET_TEST(LogTest)
#include "log_test.moc"
