// A board of charts over a real store: what a person sees and does.
#include "gui/charts/chart_board.h"

#include <QTemporaryDir>
#include <QTest>
#include <cmath>

#include "gui/session.h"
#include "storage/store.h"
#include "storage/writer.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

/// A store with runs whose curves are known.
struct BoardStore {
  BoardStore() : path(folder.filePath("heddle.sqlite").toStdString()) {
    must(storage::prepare(path));
    writer = must(storage::Writer::open(path));
    must(writer->take_lease());
    session = std::make_unique<Session>(QString::fromStdString(path));
  }
  storage::RunId run(const std::string& name) const {
    storage::NewRun made;
    made.name = name;
    made.recipe_name = made.target = "x";
    return must(writer->create_run(made).get()).id;
  }
  /// Steps `first` to `last` of one rank.
  void steps(storage::RunId run, int64_t first, int64_t last, double offset = 0, int32_t rank = 0) {
    std::string bytes;
    auto& [seq, at] = logs[{run, rank}];
    for (int64_t step = first; step <= last; ++step)
      bytes += must(telemetry::encode(
          telemetry::Step{step,
                          1e9 + 0.5 * double(step),
                          {{"loss", offset + 4 + std::sin(double(step) * 12.9898) * 0.2},
                           {"tokens_seen", double(step) * 1000},
                           {"tokens_per_second", 500.0 + rank}}},
          seq++));
    must(writer->ingest(run, rank, 0, at, bytes).get());
    at += bytes.size();
  }
  QTemporaryDir folder;
  std::string path;
  std::unique_ptr<storage::Writer> writer;
  std::unique_ptr<Session> session;
  std::map<std::pair<storage::RunId, int32_t>, std::pair<uint64_t, uint64_t>> logs;
};

void showBoard(ChartBoard& board) {
  board.resize(1300, 520);
  board.show();
  QVERIFY(QTest::qWaitForWindowExposed(&board));
  QVERIFY(QTest::qWaitFor([&] { return board.isReady(); }, 20000));
}

}  // namespace

class ChartBoardTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void charts_read_their_runs_and_what_came_since() {
    BoardStore store;
    const auto a = store.run("a"), b = store.run("b");
    store.steps(a, 1, 100);
    store.steps(b, 1, 50, 1);
    ChartBoard board(*store.session);
    board.setDefaults({{.metric = "loss"}, {.metric = "tokens_per_second"}});
    board.setRuns(
        {{a, "a", runStroke(0, Scheme::dark), {}}, {b, "b", runStroke(1, Scheme::dark), {}}});
    showBoard(board);
    const auto* loss = board.charts()[0];
    QCOMPARE(loss->curves(), 2);
    QCOMPARE(loss->series(0).size(), size_t(100));
    QCOMPARE(loss->series(1).size(), size_t(50));
    store.steps(b, 51, 80, 1);
    board.refresh();
    QTRY_COMPARE_WITH_TIMEOUT(loss->series(1).size(), size_t(80), 20000);
    QCOMPARE(loss->series(0).size(), size_t(100));
  }
};

HEDDLE_WIDGET_TEST(ChartBoardTest)
#include "chart_board_test.moc"
