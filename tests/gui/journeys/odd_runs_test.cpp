// A walk over all pages of stores that nobody wants: numbers that are not finite, clocks that jump,
// spans that overlap, runs without records, and a file damaged in the middle.
#include <SQLiteCpp/SQLiteCpp.h>

#include <QSignalSpy>
#include <QTemporaryDir>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "gui/charts/line_chart.h"
#include "gui/theme/theme.h"
#include "gui/timeline/timeline_widget.h"
#include "gui/views/runs/runs_model.h"
#include "gui/window/pages.h"
#include "storage/trust.h"
#include "storage/writer.h"
#include "tests/gui/journeys/person.h"
#include "tests/support/files.h"
#include "tests/support/results.h"
#include "tests/support/sample_runs.h"
#include "tests/support/test_class.h"
#include "workbench/report/report.h"

using namespace heddle;
using namespace heddle::gui;
using telemetry::Span;
using telemetry::Step;

namespace {

constexpr double kOddBegan = 1.78e9, kOddDay = 86400;

struct OddRun {
  const char* name;
  std::vector<telemetry::Record> records;
};

std::vector<OddRun> oddRuns() {
  const double nan = std::nan(""), infinite = INFINITY;
  std::vector<OddRun> runs{{"numbers", {}}, {"clocks", {}}, {"spans", {}}, {"backwards", {}}};
  for (int step = 1; step <= 60; ++step) {
    const double at = kOddBegan + step;
    const double odd[] = {nan, infinite, -infinite, 1e308, 5e-324, -0.0, 3};
    runs[0].records.emplace_back(Step{step,
                                      at,
                                      {{"loss", odd[step % 7]},
                                       {"grad_norm", step < 30 ? nan : infinite},
                                       {"tokens_per_second", -infinite},
                                       {"resident_bytes", -1e30}}});
    // A day back, ten years ahead, before the epoch.
    const double clock = step == 20   ? at - kOddDay
                         : step == 40 ? at + 3650 * kOddDay
                         : step == 50 ? -5
                                      : at;
    runs[1].records.emplace_back(
        Step{step, clock, {{"loss", 3 + 1.0 / step}, {"tokens_per_second", 1000}}});
    runs[2].records.emplace_back(Step{step, at, {{"loss", 3 + 1.0 / step}}});
    runs[3].records.emplace_back(Step{61 - step, at, {{"loss", 2 + 1.0 / step}}});
  }
  runs[2].records.emplace_back(
      telemetry::Spans{60,
                       kOddBegan + 60,
                       {{"mm", "layers.0", 0, 100, 0, 0},
                        {"mm", "layers.0", 50, 100, 0, 0},
                        {"mm", "layers.1", 50, 0, 0, 0},
                        {"all_gather", "layers.0", -40, 400, 1, 0},
                        {"all_gather", "layers.1", 10, 20, 1, 0},
                        {"reduce_scatter", "layers.1", int64_t{1} << 50, 7, 1, 1},
                        {"adamw", "", 200, 1, 0, 200}}});
  runs[2].records.emplace_back(
      telemetry::Spans{61, kOddBegan + 61, {{"mm", "layers.0", 100, -50, 0, 0}}});
  return runs;
}

}  // namespace

class OddRunsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    for (const char* name : {"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"})
      qputenv(name, folder_.path().toUtf8());
    Theme::install(Theme::Mode::dark);
    fill();
  }

  void every_page_shows_runs_that_are_odd() {
    QVERIFY(storage::trust(path_.toStdString()));
    Session session(path_);
    MainWindow window(session);
    window.resize(1500, 950);
    window.show();
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    const Person person(window);
    person.press(Qt::Key_4, Qt::ControlModifier);
    QVERIFY(person.isAt(QStringLiteral("Runs")));
    auto* table = person.see<QTableView>(QStringLiteral("Runs"));
    QCOMPARE(table->model()->rowCount(), int(runs_.size()));
    // Two runs that were to have one name can be told from each other.
    for (const char* name : {"twin", "twin-2"})
      QVERIFY(Person::cellThatReads(table, RunsModel::Name, QString::fromLatin1(name)).isValid());
    for (const char* column : {"loss", "best loss", "duration", "created", "memory", "steps"})
      (void)Person::clickHead(table, QString::fromLatin1(column));
    for (int row = 0; row < table->model()->rowCount(); ++row) {
      Person::click(table, table->model()->index(row, RunsModel::Name));
      QTRY_VERIFY_WITH_TIMEOUT(window.isReady(), 20000);
    }
    for (const qint64 run : runs_) {
      Q_EMIT session.runRequested(QStringLiteral("live"), run);
      QVERIFY(person.isAt(QStringLiteral("Live")));
      pressEverywhere(window);
    }
    Q_EMIT session.compareRequested(runs_);
    QVERIFY(person.isAt(QStringLiteral("Compare")));
    QCOMPARE(window.currentPage()->subtitle(), QStringLiteral("%1 runs").arg(runs_.size()));
    pressEverywhere(window);
  }

  void a_report_and_the_shell_show_them_too() {
    auto reader = must(storage::Reader::open(path_.toStdString()));
    const std::string file = folder_.filePath(QStringLiteral("odd.html")).toStdString();
    must(workbench::write_report(reader, {.runs = {runs_.begin(), runs_.end()}}, file));
    const std::string page = test::read_text(file);
    for (const char* name : {"numbers", "clocks", "spans", "twin-2", "empty"})
      QVERIFY2(page.find(name) != std::string::npos, name);
    // No picture has a place that is no number.
    for (const char* word : {"=\"nan", "=\"inf", "%3D%22nan", "%3D%22inf"})
      QVERIFY2(page.find(word) == std::string::npos, word);
  }

  /// Timeline records with times that no step has are named in the run's log.
  void spans_that_end_before_they_start_are_named() {
    auto reader = must(storage::Reader::open(path_.toStdString()));
    const auto lines = must(reader.lines_after(runs_[2], 0));
    QVERIFY(std::ranges::any_of(lines, [](const auto& line) {
      return line.text.find("times") != std::string::npos ||
             line.text.find("damage") != std::string::npos;
    }));
  }

  void a_store_damaged_anywhere_shows_what_it_can_and_says_so() {
    samples::ManyRuns whole(12);
    {
      SQLite::Database(whole.path().toStdString(), SQLite::OPEN_READWRITE)
          .exec("PRAGMA wal_checkpoint(TRUNCATE)");
    }
    const std::string bytes = test::read_text(whole.path().toStdString());
    constexpr size_t kPage = 4096, kTried = 14;
    const size_t pages = bytes.size() / kPage;
    QVERIFY(pages > kTried);
    int shown = 0, told = 0;
    for (size_t i = 0; i < kTried; ++i) {
      std::string damaged = bytes;
      const size_t page = 1 + i * (pages - 2) / (kTried - 1);
      for (size_t at = 0; at < kPage; ++at)
        damaged[page * kPage + at] = static_cast<char>(at * 7 + 1);
      const QString path = folder_.filePath(QStringLiteral("damaged-%1.sqlite").arg(page));
      std::ofstream(path.toStdString(), std::ios::binary) << damaged;
      QVERIFY(storage::trust(path.toStdString()));
      Session session(path);
      QStringList said;
      connect(&session, &Session::message, this, [&](const QString& text) { said << text; });
      MainWindow window(session);
      window.resize(1200, 800);
      window.show();
      for (const char* name : {"runs", "compare", "live", "launch"}) {
        window.showPage(QString::fromLatin1(name));
        QVERIFY2(QTest::qWaitFor([&] { return window.isReady(); }, 30000), name);
        if (name != QStringLiteral("runs")) continue;
        const int rows = window.currentPage()
                             ->findChild<QTableView*>(QStringLiteral("runs"))
                             ->model()
                             ->rowCount();
        if (rows > 0) ++shown;
        QVERIFY2(rows == 12 || !said.isEmpty(), qPrintable(QString::number(page)));
      }
      if (!said.isEmpty()) ++told;
      for (const QString& text : said)
        QVERIFY2(text.contains(QStringLiteral("cannot be read")) ||
                     text.contains(QStringLiteral("damaged")),
                 qPrintable(text));
    }
    QVERIFY2(shown > int(kTried) / 2 && told > 0,
             qPrintable(QStringLiteral("%1 shown, %2 told").arg(shown).arg(told)));
  }

 private:
  /// Each timeline's and chart's keys.
  static void pressEverywhere(MainWindow& window) {
    for (QWidget* each : window.currentPage()->findChildren<QWidget*>()) {
      const bool canvas = qobject_cast<TimelineWidget*>(each) || qobject_cast<LineChart*>(each);
      if (!canvas || !each->isVisible()) continue;
      for (const Qt::Key key : {Qt::Key_W, Qt::Key_W, Qt::Key_D, Qt::Key_Period, Qt::Key_S,
                                Qt::Key_K, Qt::Key_F, Qt::Key_Left, Qt::Key_Home})
        QTest::keyClick(each, key);
      QTest::mouseMove(each, each->rect().center());
    }
    QVERIFY(QTest::qWaitFor([&] { return window.isReady(); }, 20000));
  }

  void fill() {
    const auto writer = must(storage::Writer::open(path_.toStdString()));
    must(writer->take_lease());
    const auto create = [&](const char* name) {
      storage::NewRun run;
      run.name = name;
      run.target = "this-machine";
      run.recipe = "[model]\npreset = \"llama3-debug\"\n";
      run.created = kOddBegan;
      const auto id = must(writer->create_run(run)).id;
      runs_ << id;
      return id;
    };
    for (const OddRun& odd : oddRuns()) {
      const storage::RunId id = create(odd.name);
      must(writer->set_state(id, storage::RunState::running, {}, kOddBegan));
      std::string log;
      uint64_t seq = 0;
      for (const auto& record : odd.records) log += must(telemetry::encode(record, seq++));
      must(writer->ingest(id, 0, 0, 0, log));
      // It ended before it began.
      must(writer->set_state(id, storage::RunState::done, {}, kOddBegan - 3 * kOddDay));
    }
    for (const char* name : {"empty", "twin", "twin"})
      must(writer->set_state(create(name), storage::RunState::failed, "no host", kOddBegan));
  }

  QTemporaryDir folder_;
  QString path_ = folder_.filePath(QStringLiteral("odd.sqlite"));
  QList<qint64> runs_;
};

HEDDLE_WIDGET_TEST(OddRunsTest)
#include "odd_runs_test.moc"
