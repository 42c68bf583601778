// ingest_bench [SECONDS]: 20,000 samples a second into a store for ten minutes, while the window
// shows one of the runs on Live and two ranks train beside it. Prints the delay of the window's
// event loop, its memory over time, the bytes that a sample takes on the disk, and whether any is
// lost. Wants a display; offscreen where there is none.
#include <fmt/format.h>
#include <sqlite3.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QProcess>
#include <QTemporaryDir>
#include <QTimer>
#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>

#include "gui/theme/theme.h"
#include "gui/window/main_window.h"
#include "tests/bench/delay_probe.h"
#include "tests/bench/scale_stores.h"
#include "tests/support/results.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

// 10 runs × 200 metrics × 10 steps a second.
constexpr int kIngestRuns = 10, kIngestMetrics = 200, kStepsASecond = 10;
constexpr auto kBeat = std::chrono::milliseconds(1000 / kStepsASecond);
constexpr double kMaxDelayMs = 50, kMaxBytesASample = 12, kMaxGrowthMiB = 8;
constexpr size_t kMemoryEveryS = 10, kFilledS = 60;  // caches are full after that

/// Writes at the pace, on a thread of its own, as hosts' feeds do.
class Feed {
 public:
  Feed(storage::Writer& writer, int seconds) : writer_(writer), steps_(seconds * kStepsASecond) {
    for (int i = 0; i < kIngestRuns; ++i) {
      storage::NewRun run;
      run.name = fmt::format("fed-{}", i);
      run.target = "this-machine";
      run.recipe_name = "debug";
      runs_.push_back(must(writer.create_run(std::move(run))).id);
      must(writer.set_state(runs_.back(), storage::RunState::running));
    }
    offsets_.resize(runs_.size());
    thread_ = std::thread([this] { feed(); });
  }
  ~Feed() { thread_.join(); }
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  bool done() const { return done_; }
  double late() const { return late_; }
  const std::vector<storage::RunId>& runs() const { return runs_; }

 private:
  void feed() {
    auto due = std::chrono::steady_clock::now();
    for (int64_t step = 1; step <= steps_; ++step, due += kBeat) {
      std::this_thread::sleep_until(due);
      std::vector<storage::Writer::Future<storage::Ingested>> waiting;
      for (size_t i = 0; i < runs_.size(); ++i) {
        std::string bytes = bench::encoded_steps(runs_[i], 1, kIngestMetrics, step);
        const size_t size = bytes.size();
        waiting.push_back(writer_.ingest(runs_[i], 0, 0, offsets_[i], std::move(bytes)));
        offsets_[i] += size;
      }
      for (auto& future : waiting) must(std::move(future));
      const std::chrono::duration<double> behind = std::chrono::steady_clock::now() - due - kBeat;
      late_ = std::max(late_.load(), behind.count());
    }
    for (const storage::RunId run : runs_) must(writer_.set_state(run, storage::RunState::done));
    done_ = true;
  }

  storage::Writer& writer_;
  int64_t steps_;
  std::vector<storage::RunId> runs_;
  std::vector<uint64_t> offsets_;
  std::atomic<double> late_ = 0;  // the most seconds behind the pace
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

double residentNow() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word)
    if (word == "VmRSS:" && status >> word) return std::stod(word) / 1024;
  return 0;
}

const char* verdict(bool holds) { return holds ? "ok" : "MISSED"; }

}  // namespace

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 600;
  if (seconds < 10) {
    fmt::print(stderr, "ingest_bench [SECONDS]; valid: 10 or more\n");
    return 2;
  }
  if (!qEnvironmentVariableIsSet("DISPLAY")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QTemporaryDir folder;
  const QString store = folder.filePath(QStringLiteral("store.sqlite"));
  QApplication application(argc, argv);
  Theme::install(Theme::Mode::dark);

  QProcess ranks;
  ranks.start(
      QStringLiteral("nice"),
      {QStringLiteral("-n"), QStringLiteral("10"),
       QStringLiteral(HEDDLE_BINARY_DIR "/heddle-engine"), QStringLiteral("train"),
       QStringLiteral(HEDDLE_SOURCE_DIR "/resources/recipes/debug.toml"), QStringLiteral("--ranks"),
       QStringLiteral("2"), QStringLiteral("--set"), QStringLiteral("training.steps=1000000"),
       QStringLiteral("--run-dir"), folder.filePath(QStringLiteral("ranks"))});

  auto writer = must(storage::Writer::open(store.toStdString()));
  must(writer->take_lease());
  std::vector<double> memory;
  bench::DelayProbe probe;
  double late = 0, pages = 0;
  std::vector<storage::RunId> runs;
  {
    Feed feed(*writer, seconds);
    runs = feed.runs();
    Session session(store, false);
    MainWindow window(session);
    window.resize(1600, 1000);
    window.show();
    Q_EMIT session.runRequested(QStringLiteral("live"), runs.front());
    // Readers poll as a started session does.
    QTimer changes;
    QObject::connect(&changes, &QTimer::timeout, &session, &Session::storeChanged);
    changes.start(250);

    probe.start();
    QTimer watch;
    QObject::connect(&watch, &QTimer::timeout, [&] {
      if (static_cast<size_t>(probe.elapsed()) > 1000 * kMemoryEveryS * (memory.size() + 1))
        memory.push_back(residentNow());
      if (feed.done()) QCoreApplication::quit();
    });
    watch.start(100);
    QApplication::exec();
    late = feed.late();
    pages = static_cast<double>(sqlite3_memory_used()) / (1 << 20);
  }
  const bool trained = ranks.state() == QProcess::Running;
  ranks.kill();
  ranks.waitForFinished();
  writer.reset();  // compacts what waits, and folds the write-ahead log into the file

  auto reader = must(storage::Reader::open(store.toStdString()));
  const int64_t steps = int64_t{seconds} * kStepsASecond;
  int64_t lost = 0;
  for (const storage::RunId run : runs)
    for (const char* name : {"loss", "metric.100", "metric.199"})
      lost += steps - static_cast<int64_t>(must(reader.samples(run, name, 0)).size());
  const double samples = static_cast<double>(steps) * kIngestRuns * kIngestMetrics;
  const double bytes = static_cast<double>(QFileInfo(store).size()) / samples;
  const double p99 = probe.delay(0.99);
  fmt::print(
      "{:.0f} samples in {} s; the feed was at most {:.1f} s behind; ranks trained to the end: "
      "{}\n",
      samples, seconds, late, trained ? "yes" : "no");
  fmt::print(
      "event loop delay: median {:.0f}, p99 {:.0f} ms (at most {:.0f}): {}; longest {:.0f} ms\n",
      probe.delay(0.5), p99, kMaxDelayMs, verdict(p99 <= kMaxDelayMs), probe.delay(1));
  double growth = 0;
  if (memory.size() > kFilledS / kMemoryEveryS) {
    // Between compactions.
    const auto lowest = [](auto from, auto to) { return *std::min_element(from, to); };
    const auto minute = memory.begin() + kFilledS / kMemoryEveryS;
    const double filled = lowest(minute - 3, minute), end = lowest(memory.end() - 3, memory.end());
    growth = end - filled;
    fmt::print(
        "resident: {:.0f} MiB after a minute, {:.0f} MiB at the end (at most {:.0f} more): {}; "
        "most {:.0f} MiB\n",
        filled, end, kMaxGrowthMiB, verdict(growth <= kMaxGrowthMiB),
        *std::max_element(memory.begin(), memory.end()));
    fmt::print("of these SQLite's pages: {:.0f} MiB\n", pages);
  }
  fmt::print("on the disk: {:.1f} bytes a sample (at most {:.0f}): {}\n", bytes, kMaxBytesASample,
             verdict(bytes <= kMaxBytesASample));
  fmt::print("lost: {} samples of three metrics: {}\n", lost, verdict(lost == 0));
  return p99 > kMaxDelayMs || growth > kMaxGrowthMiB || bytes > kMaxBytesASample || lost != 0;
}
