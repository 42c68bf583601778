// neighbour_bench [SECONDS]: how quick the window stays while two ranks train on two cores, each in
// a session of its own, as supervisors start them. Where the kernel groups processes by session
// (autogroup), a rank's own nice value counts only within its group: the delay of the window's
// event loop with the groups' nice value as ranks set it, and with 0, in turn. Wants root, to set
// it back, and a kernel with autogroups; a display, offscreen where there is none.
#include <fmt/format.h>
#include <unistd.h>

#include <QApplication>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "gui/charts/line_chart.h"
#include "gui/theme/theme.h"
#include "gui/window/main_window.h"
#include "tests/bench/delay_probe.h"
#include "tests/bench/scale_stores.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

constexpr int kTurns = 3, kKeyMs = 50, kWarmUpMs = 4000;
constexpr double kMaxDelayMs = 50;
constexpr const char* kSwitch = "/proc/sys/kernel/sched_autogroup_enabled";

std::string text_of(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return {};
  return file.readAll().trimmed().toStdString();
}

/// Whether all of it could be written.
bool put(const QString& path, const QByteArray& text) {
  QFile file(path);
  return file.open(QIODevice::WriteOnly | QIODevice::Unbuffered) && file.write(text) == text.size();
}

/// A rank that trains in a session of its own.
std::unique_ptr<QProcess> trainedRank(const QString& runDir) {
  auto rank = std::make_unique<QProcess>();
  rank->setChildProcessModifier([] { setsid(); });
  rank->start(
      QStringLiteral(HEDDLE_BINARY_DIR "/heddle-engine"),
      {QStringLiteral("train"), QStringLiteral(HEDDLE_SOURCE_DIR "/resources/recipes/debug.toml"),
       QStringLiteral("--ranks"), QStringLiteral("1"), QStringLiteral("--set"),
       QStringLiteral("training.steps=1000000"), QStringLiteral("--run-dir"), runDir});
  return rank;
}

void wait(int milliseconds) {
  QElapsedTimer clock;
  clock.start();
  while (clock.elapsed() < milliseconds)
    QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents, 5);
}

}  // namespace

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 20;
  if (seconds < 5) {
    fmt::print(stderr, "neighbour_bench [SECONDS a turn]; valid: 5 or more\n");
    return 2;
  }
  if (geteuid() != 0 || text_of(QLatin1String(kSwitch)) != "1") {
    fmt::print(stderr, "neighbour_bench: run it as root, with 1 in {}\n", kSwitch);
    return 2;
  }
  if (!qEnvironmentVariableIsSet("DISPLAY")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QTemporaryDir folder;
  const QString store = folder.filePath(QStringLiteral("store.sqlite"));
  const auto shape = std::ranges::find(bench::scale_shapes(), std::string_view("live"),
                                       [](const bench::ScaleShape& each) { return each.name; });
  bench::make_scale_store(*shape, store.toStdString());
  QApplication application(argc, argv);
  Theme::install(Theme::Mode::dark);
  Session session(store, false);
  MainWindow window(session);
  window.resize(1600, 1000);
  window.show();
  Q_EMIT session.pageRequested(QStringLiteral("live"));
  while (!window.isReady()) wait(100);
  auto* chart = window.currentPage()->findChild<LineChart*>();
  if (!chart) {
    fmt::print(stderr, "neighbour_bench: Live shows no chart\n");
    return 1;
  }

  std::array<std::unique_ptr<QProcess>, 2> ranks;
  for (size_t i = 0; i < ranks.size(); ++i)
    ranks[i] = trainedRank(folder.filePath(QStringLiteral("rank-%1").arg(i)));
  wait(kWarmUpMs);
  double worst = 0;
  bench::DelayProbe probe;
  for (int turn = 0; turn < 2 * kTurns; ++turn) {
    const bool yields = turn % 2 == 1;
    for (const auto& rank : ranks)
      if (!put(QStringLiteral("/proc/%1/autogroup").arg(rank->processId()), yields ? "10" : "0")) {
        fmt::print(stderr, "neighbour_bench: a rank's group cannot be set; has it ended? {}\n",
                   rank->readAllStandardError().toStdString());
        return 1;
      }
    probe.start();
    for (int key = 0; probe.elapsed() < 1000 * seconds; ++key) {
      QTest::keyClick(chart, key / 12 % 2 ? Qt::Key_S : Qt::Key_W);
      wait(kKeyMs);
    }
    fmt::print(
        "groups of nice {:2}: event loop delay median {:.0f}, p99 {:.0f}, longest {:.0f} ms\n",
        yields ? 10 : 0, probe.delay(0.5), probe.delay(0.99), probe.delay(1));
    if (yields) worst = std::max(worst, probe.delay(0.99));
  }
  const bool trained =
      ranks[0]->state() == QProcess::Running && ranks[1]->state() == QProcess::Running;
  for (const auto& rank : ranks) {
    rank->terminate();
    rank->waitForFinished();
  }
  const bool holds = worst <= kMaxDelayMs && trained;
  fmt::print("p99 with 10 at most {:.0f} ms (at most {:.0f}), ranks trained to the end: {}: {}\n",
             worst, kMaxDelayMs, trained ? "yes" : "no", holds ? "ok" : "MISSED");
  return holds ? 0 : 1;
}
