// A Live page over a real store that a test fills as the follower does.
#pragma once

#include <QAction>
#include <QTemporaryDir>
#include <QTest>

#include "gui/views/live/live_page.h"
#include "storage/store.h"
#include "storage/writer.h"
#include "tests/support/results.h"

namespace heddle::gui {

/// One rank's log, fed to the store as the follower does it.
class RankLog {
 public:
  RankLog(storage::Writer& writer, storage::RunId run, int32_t rank)
      : writer_(writer), run_(run), rank_(rank) {
    add(telemetry::Start{1e9, rank, 2, "planned", {{"host", "loom"}}, {}});
  }
  void add(const telemetry::Record& record) { pending_ += must(telemetry::encode(record, seq_++)); }
  void addBytes(const std::string& bytes) { pending_ += bytes; }
  void step(int64_t step, double loss) {
    add(telemetry::Step{step,
                        1e9 + static_cast<double>(step),
                        {{"loss", loss},
                         {"tokens_per_second", 500},
                         {"step_seconds", 0.5},
                         {"resident_bytes", 3.0 * (1 << 30)},
                         {"lr", 3e-4}}});
  }
  void spans(int64_t step, int64_t computeUs) {
    add(telemetry::Spans{step,
                         1e9,
                         {{"mm", "layers.0", 0, computeUs, 0, 0},
                          {"all_gather", "layers.1", computeUs, 1000, 1, 0}}});
  }
  void feed() {
    must(writer_.ingest(run_, rank_, 0, offset_, pending_).get());
    offset_ += pending_.size();
    pending_.clear();
  }

 private:
  storage::Writer& writer_;
  storage::RunId run_;
  int32_t rank_;
  uint64_t seq_ = 0;
  uint64_t offset_ = 0;
  std::string pending_;
};

/// A page that gets changes as the window sends them.
struct Shown {
  explicit Shown(const QTemporaryDir& folder)
      : path(folder.filePath("heddle.sqlite").toStdString()) {
    must(storage::prepare(path));
    session = std::make_unique<Session>(QString::fromStdString(path));
    page = std::make_unique<LivePage>(*session);
    page->resize(1400, 900);
    QObject::connect(session.get(), &Session::storeChanged, page.get(),
                     [this] { page->activated(); });
    QObject::connect(session.get(), &Session::message, page.get(),
                     [this](const QString& text) { messages << text; });
  }
  /// Writes to the store as the process that follows its runs.
  std::unique_ptr<storage::Writer> follower() const {
    auto writer = must(storage::Writer::open(path));
    must(writer->take_lease());
    return writer;
  }
  void show() {
    session->start();
    page->show();
    page->activated();
    QVERIFY(QTest::qWaitFor([this] { return page->isReady(); }, 20000));
  }
  LineChart* chart(const QString& title) const {
    for (LineChart* chart : page->findChildren<LineChart*>()) {
      if (chart->accessibleName() == title) return chart;
    }
    return nullptr;
  }
  /// Empty where the chart has no such curve.
  Series curve(const QString& title, int number = 0) const {
    const LineChart* found = chart(title);
    return found && found->curves() > number ? found->series(number) : Series();
  }
  Tile* tile(const char* name) const { return page->findChild<Tile*>(QLatin1String(name)); }
  QAction* action(const char* name) const { return page->findChild<QAction*>(QLatin1String(name)); }

  std::string path;
  QStringList messages;
  std::unique_ptr<Session> session;
  std::unique_ptr<LivePage> page;
};

inline storage::RunId running(storage::Writer& writer, const storage::NewRun& wanted) {
  const storage::RunId run = must(writer.create_run(wanted).get()).id;
  must(writer.set_state(run, storage::RunState::running).get());
  return run;
}

struct Folder {
  QTemporaryDir folder;
};

/// A page in a folder of its own, with a run that goes on and that the test follows.
struct Followed : Folder, Shown {
  explicit Followed(const storage::NewRun& wanted)
      : Shown(folder), writer(follower()), run(running(*writer, wanted)) {}

  std::unique_ptr<storage::Writer> writer;
  storage::RunId run;
};

}  // namespace heddle::gui
