// pages_bench [STORE]: what the window's start and each change of page take, in milliseconds: until
// the page has drawn all it shows, and the longest event on the way (what a person feels as a
// freeze); and of Compare with every run of the store, and of the palette, right after a start.
// Offscreen at 1600 × 1000, on the sample runs where no store is named.
#include <fmt/format.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "gui/theme/theme.h"
#include "gui/window/main_window.h"
#include "tests/support/sample_runs.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

constexpr int kRounds = 7;

/// Times every event that it delivers.
class TimedApplication : public QApplication {
 public:
  using QApplication::QApplication;
  bool notify(QObject* receiver, QEvent* event) override {
    if (depth_++ > 0) {
      const bool handled = QApplication::notify(receiver, event);
      --depth_;
      return handled;
    }
    QElapsedTimer clock;
    clock.start();
    const bool handled = QApplication::notify(receiver, event);
    --depth_;
    longest_ = std::max(longest_, static_cast<double>(clock.nsecsElapsed()) / 1e6);
    return handled;
  }
  double takeLongest() { return std::exchange(longest_, 0); }

 private:
  int depth_ = 0;
  double longest_ = 0;
};

/// Until nothing has been loading for as long as charts take to be drawn; that quiet does not
/// count.
double untilReady(const MainWindow& window, const QElapsedTimer& clock) {
  constexpr int kQuiet = 150;
  double ready = 0;
  QElapsedTimer quiet;
  quiet.start();
  while (quiet.elapsed() < kQuiet) {
    QCoreApplication::processEvents(QEventLoop::AllEvents, 5);
    if (!window.isReady()) {
      quiet.restart();
      ready = static_cast<double>(clock.nsecsElapsed()) / 1e6;
    }
  }
  return ready;
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  qputenv("QT_LOGGING_RULES", "*.warning=false");  // the platform remarks on every window
  TimedApplication application(argc, argv);
  QTemporaryDir folder;
  QString store = argc > 1 ? QString::fromLocal8Bit(argv[1]) : folder.filePath("sample.sqlite");
  if (argc < 2)
    if (const auto filled = samples::fill(store.toStdString()); !filled) {
      fmt::print(stderr, "{}\n", filled.error().message);
      return 1;
    }
  Theme::install(Theme::Mode::dark);

  QList<qint64> all;
  auto reader = storage::Reader::open(store.toStdString());
  const auto runs = reader ? reader->runs() : fail(reader);
  if (runs)
    for (const storage::RunSummary& run : *runs) all.append(run.id);
  std::vector<double> starts;
  std::map<std::string, std::vector<double>> switches, events;
  for (int round = 0; round < kRounds; ++round) {
    for (const bool asPalette : {true, false}) {
      QElapsedTimer clock;
      clock.start();
      Session session(store, false);
      MainWindow window(session);
      window.setAttribute(Qt::WA_DontShowOnScreen);
      window.resize(1600, 1000);
      window.show();
      const double shown = static_cast<double>(clock.nsecsElapsed()) / 1e6;
      starts.push_back(std::max(shown, untilReady(window, clock)));
      const auto time = [&](const std::string& what, const std::function<void()>& act) {
        application.takeLongest();
        clock.restart();
        act();
        const double asked = static_cast<double>(clock.nsecsElapsed()) / 1e6;
        switches[what].push_back(std::max(asked, untilReady(window, clock)));
        events[what].push_back(std::max(asked, application.takeLongest()));
      };
      if (asPalette) {
        time("palette", [&] { window.findChild<TopBar*>()->search()->click(); });
        continue;
      }
      for (const char* page : {"launch", "live", "runs", "compare", "targets", "compose"})
        time(page, [&] { window.showPage(page); });
      time(fmt::format("compare {}", all.size()), [&] { Q_EMIT session.compareRequested(all); });
    }
  }
  fmt::print("start        {:7.1f} ms\n", median(starts));
  for (const auto& [page, times] : switches)
    fmt::print("{:12} {:7.1f} ms, longest event {:.1f} ms\n", page, median(times),
               median(events[page]));
  return 0;
}
