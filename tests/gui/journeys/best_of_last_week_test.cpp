// Last week's best run among 10,000: filtered by date, sorted by best loss, opened.
#include <QComboBox>
#include <QTemporaryDir>
#include <cmath>
#include <deque>

#include "gui/theme/theme.h"
#include "gui/views/runs/runs_model.h"
#include "storage/trust.h"
#include "storage/writer.h"
#include "tests/gui/journeys/person.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

constexpr int kRuns = 10'000;
constexpr double kDay = 86400, kDays = 100;

/// Run i of as many, the newest first; a loss that has no order.
double daysAgo(int i) { return kDays * i / kRuns; }
double lossOf(int i) { return 2 + std::fmod(i * 0.618033988, 1.0); }

}  // namespace

class BestOfLastWeekTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    for (const char* name : {"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"})
      qputenv(name, folder_.path().toUtf8());
    Theme::install(Theme::Mode::light);
    fill();
    QVERIFY(storage::trust(path_.toStdString()));
  }

  void is_found_by_a_filter_a_sort_and_a_double_click() {
    Session session(path_);
    MainWindow window(session);
    window.resize(1500, 950);
    window.show();
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    const Person person(window);
    person.press(Qt::Key_4, Qt::ControlModifier);
    QVERIFY(person.isAt(QStringLiteral("Runs")));
    QCOMPARE(window.currentPage()->subtitle(), QStringLiteral("10,000 runs"));

    person.press(Qt::Key_F, Qt::ControlModifier);
    QLineEdit* field = filterOf(window);
    QVERIFY(field && field->isVisible());
    QTest::keyClicks(field, QStringLiteral("created < 7d and created > 14d"));
    QTRY_COMPARE(window.currentPage()->subtitle(), QStringLiteral("700 of 10,000 runs"));
    auto* table = person.see<QTableView>(QStringLiteral("Runs"));
    QVERIFY(Person::clickHead(table, QStringLiteral("best loss")));
    const QModelIndex first = table->model()->index(0, RunsModel::Name);
    QTRY_COMPARE(first.data().toString(), best_);
    const QPoint at = table->visualRect(first).center();
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, at);
    QTest::mouseDClick(table->viewport(), Qt::LeftButton, {}, at);
    QVERIFY(person.isAt(QStringLiteral("Live")));
    const auto* shown = person.see<QComboBox>(QStringLiteral("Run"));
    QVERIFY(shown);
    QTRY_COMPARE(shown->currentText(), best_);
  }

  void the_field_says_when_so_many_days_ago_was() {
    Session session(path_);
    MainWindow window(session);
    window.resize(1500, 950);
    window.show();
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    const Person person(window);
    person.press(Qt::Key_4, Qt::ControlModifier);
    QVERIFY(person.isAt(QStringLiteral("Runs")));
    person.press(Qt::Key_F, Qt::ControlModifier);
    QLineEdit* field = filterOf(window);
    QVERIFY(field && field->isVisible());
    // The other way round no run is left.
    QTest::keyClicks(field, QStringLiteral("created > 7d and created < 14d"));
    QTRY_COMPARE(window.currentPage()->subtitle(), QStringLiteral("0 of 10,000 runs"));
    bool said = false;
    for (QLabel* label : window.currentPage()->findChildren<QLabel*>())
      said |=
          label->isVisible() && nameOf(label).startsWith(QStringLiteral("created > 7d: after "));
    QVERIFY(said);
  }

 private:
  static QLineEdit* filterOf(const MainWindow& window) {
    for (auto* field : window.currentPage()->findChildren<QLineEdit*>())
      if (nameOf(field).startsWith(QStringLiteral("Filter"))) return field;
    return nullptr;
  }

  void fill() {
    const auto writer = must(storage::Writer::open(path_.toStdString()));
    must(writer->take_lease());
    const double now = static_cast<double>(QDateTime::currentMSecsSinceEpoch()) / 1000;
    std::deque<storage::Writer::Future<storage::CreatedRun>> made;
    double least = INFINITY;
    // Oldest first, and none so near to a week's edge that the time which the test takes matters.
    for (int i = kRuns - 1; i >= 0; --i) {
      storage::NewRun run;
      run.name = QStringLiteral("run-%1").arg(i).toStdString();
      run.target = "this-machine";
      run.recipe_name = "debug";
      run.created = now - (daysAgo(i) + kDays / kRuns / 2) * kDay;
      made.push_back(writer->create_run(std::move(run)));
      if (daysAgo(i) >= 7 && daysAgo(i) < 14 && lossOf(i) < least) {
        least = lossOf(i);
        best_ = QStringLiteral("run-%1").arg(i);
      }
      if (made.size() > 50 || i == 0) end(*writer, made, i);
    }
  }

  static void end(storage::Writer& writer,
                  std::deque<storage::Writer::Future<storage::CreatedRun>>& made, int newest) {
    int i = newest + static_cast<int>(made.size()) - 1;
    std::vector<std::future<Result<>>> done;
    for (auto& future : made) {
      const storage::RunId id = must(std::move(future)).id;
      const telemetry::Step step{1, 1.7e9, {{"loss", lossOf(i--)}}};
      (void)writer.ingest(id, 0, 0, 0, must(telemetry::encode(step, 0)));
      done.push_back(writer.set_state(id, storage::RunState::done, {}, 1.7e9));
    }
    for (auto& each : done) must(std::move(each));
    made.clear();
  }

  QTemporaryDir folder_;
  QString path_ = folder_.filePath(QStringLiteral("runs.sqlite"));
  QString best_;
};

HEDDLE_WIDGET_TEST(BestOfLastWeekTest)
#include "best_of_last_week_test.moc"
