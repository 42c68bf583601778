// scale_window SHAPE STORE [--fill] | --open PAGE STORE: the real window on a store of a shape that
// people have (scale_stores.h), moved by events as a person's are. Prints a JSON object a line:
// each page's opening, and filter, sort, group, pan and zoom, in milliseconds from the injected
// event until the picture is flushed to the screen; last, the resident memory. `--fill` only makes
// the store, `--open` only opens one page of any store. Wants a display of 2560 × 1440:
// scale_bench.py starts one, and runs this cold and warm.
#include <fmt/format.h>
#include <unistd.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QTableView>
#include <QTest>
#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <thread>

#include "gui/charts/line_chart.h"
#include "gui/theme/theme.h"
#include "gui/timeline/timeline_widget.h"
#include "gui/window/main_window.h"
#include "tests/bench/scale_stores.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

constexpr int kFrames = 120;
constexpr int kGiveUpMs = 60'000;

double since(const QElapsedTimer& clock) { return static_cast<double>(clock.nsecsElapsed()) / 1e6; }

/// Notes when a window's picture has been flushed: painting and flushing end with the update
/// request that began them.
class FlushClock : public QApplication {
 public:
  using QApplication::QApplication;
  bool notify(QObject* receiver, QEvent* event) override {
    const bool update = event->type() == QEvent::UpdateRequest;
    const bool outermost = depth_++ == 0;
    QElapsedTimer clock;
    clock.start();
    const bool handled = QApplication::notify(receiver, event);
    --depth_;
    if (outermost) longest_ = std::max(longest_, since(clock));
    if (update) ++flushes_;
    return handled;
  }
  int flushes() const { return flushes_; }
  double takeLongest() { return std::exchange(longest_, 0); }

 private:
  int flushes_ = 0;
  int depth_ = 0;
  double longest_ = 0;
};

class Measurement {
 public:
  Measurement(FlushClock& flushes, MainWindow& window) : flushes_(flushes), window_(window) {}

  /// From the event until the page has drawn all that it loads; the longest single event on the
  /// way.
  void untilReady(const std::string& what, const std::function<void()>& event) {
    flushes_.takeLongest();
    QElapsedTimer clock;
    clock.start();
    event();
    double done = since(clock);
    int seen = flushes_.flushes();
    QElapsedTimer quiet;
    quiet.start();
    // Quiet for as long as fields and charts wait before they act; that wait does not count.
    while (quiet.elapsed() < 400 && clock.elapsed() < kGiveUpMs) {
      QCoreApplication::processEvents(QEventLoop::AllEvents, 2);
      if (window_.isReady() && flushes_.flushes() == seen) continue;
      // As an event loop that waits: those who read have the cores.
      if (flushes_.flushes() == seen) std::this_thread::sleep_for(std::chrono::microseconds(200));
      seen = flushes_.flushes();
      done = since(clock);
      quiet.restart();
    }
    fmt::print(
        "{{\"what\": \"{}\", \"ms\": {:.1f}, \"longest_event_ms\": {:.1f}, \"quiet_ms\": "
        "{:.1f}}}\n",
        what, done, flushes_.takeLongest(), since(clock) - done);
  }

  /// Frames: each from its event until the next flush.
  void frames(const std::string& what, const std::function<void(int)>& event) {
    std::vector<double> times;
    for (int i = 0; i < kFrames; ++i) {
      const int before = flushes_.flushes();
      QElapsedTimer clock;
      clock.start();
      event(i);
      while (flushes_.flushes() == before && clock.elapsed() < 1000)
        QCoreApplication::processEvents(QEventLoop::AllEvents, 1);
      if (flushes_.flushes() == before) continue;  // at an end: nothing to draw
      times.push_back(since(clock));
      QTest::qWait(4);  // a person's events do not come back to back
    }
    if (times.empty()) return missing(what);
    std::sort(times.begin(), times.end());
    const auto at = [&](double share) {
      return times[static_cast<size_t>(share * static_cast<double>(times.size() - 1))];
    };
    fmt::print(
        "{{\"what\": \"{}\", \"frames\": {}, \"p50_ms\": {:.1f}, \"p95_ms\": {:.1f}, \"max_ms\": "
        "{:.1f}}}\n",
        what, times.size(), at(0.5), at(0.95), times.back());
  }

  static void missing(const std::string& what) {
    fmt::print("{{\"what\": \"{}\", \"missing\": true}}\n", what);
  }

 private:
  FlushClock& flushes_;
  MainWindow& window_;
};

/// The first visible widget of that kind on the page.
template <typename Widget>
Widget* visible(QWidget* page, const QString& accessibleName = {}) {
  for (Widget* widget : page->findChildren<Widget*>())
    if (widget->isVisible() &&
        (accessibleName.isEmpty() || widget->accessibleName() == accessibleName))
      return widget;
  return nullptr;
}

void wheel(QWidget* widget, QPointF at, int delta, Qt::KeyboardModifiers keys) {
  QWheelEvent event(at, widget->mapToGlobal(at), {}, {0, delta}, Qt::NoButton, keys,
                    Qt::NoScrollPhase, false);
  QCoreApplication::sendEvent(widget, &event);
}

void measureRuns(Measurement& measure, MainWindow& window) {
  QWidget* page = window.currentPage();
  auto* table = visible<QTableView>(page);
  auto* filter = visible<QLineEdit>(page);
  if (!table || !filter) return Measurement::missing("runs table");
  measure.frames("scroll the table", [&](int i) {
    wheel(table->viewport(), table->viewport()->rect().center(), i < kFrames / 2 ? -120 : 120, {});
  });
  filter->setFocus();
  for (const char* text : {"lr > 1e-4", "tags has fp8", "key.77 = 40"}) {
    filter->clear();
    QTest::qWait(500);
    for (const char* letter = text; letter[1]; ++letter) QTest::keyClick(filter, *letter);
    QTest::qWait(500);
    measure.untilReady(fmt::format("filter {}", text),
                       [&] { QTest::keyClick(filter, text[std::strlen(text) - 1]); });
  }
  filter->clear();
  QTest::qWait(500);
  auto* header = table->horizontalHeader();
  for (int column : {3, 7}) {  // name, loss
    const QPoint at(header->sectionViewportPosition(column) + 20, header->height() / 2);
    measure.untilReady(fmt::format("sort by column {}", column),
                       [&] { QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, at); });
  }
  auto* button = page->findChild<QPushButton*>(QStringLiteral("groupRuns"));
  if (!button) return Measurement::missing("group");
  for (const char* by : {"recipe", "lineage: runs that go on from each other", "No groups"})
    measure.untilReady(fmt::format("group: {}", by), [&] {
      Q_EMIT button->menu()->aboutToShow();
      for (QAction* action : button->menu()->actions())
        if (action->text() == QLatin1String(by)) return action->trigger();
    });
}

void measureChart(Measurement& measure, QWidget* page, const std::string& where) {
  auto* chart = visible<LineChart>(page);
  if (!chart) return Measurement::missing(where + " chart");
  chart->setFocus();
  measure.frames(where + ": zoom a chart",
                 // Not as far as either end, where nothing is left to draw.
                 [&](int i) { QTest::keyClick(chart, i / 12 % 2 ? Qt::Key_S : Qt::Key_W); });
  for (int i = 0; i < 6; ++i) QTest::keyClick(chart, Qt::Key_W);
  measure.frames(where + ": pan a chart",
                 [&](int i) { QTest::keyClick(chart, i / 10 % 2 ? Qt::Key_A : Qt::Key_D); });
  QTest::keyClick(chart, Qt::Key_F);
}

void measureTimeline(Measurement& measure, QWidget* page, const std::string& where) {
  auto* timeline = visible<TimelineWidget>(page);
  if (!timeline) return Measurement::missing(where + " timeline");
  timeline->setFocus();
  measure.frames(where + ": zoom the timeline", [&](int i) {
    QTest::keyClick(timeline, i < kFrames / 2 ? Qt::Key_W : Qt::Key_S);
  });
  for (int i = 0; i < 8; ++i) QTest::keyClick(timeline, Qt::Key_W);
  measure.frames(where + ": pan the timeline",
                 [&](int i) { QTest::keyClick(timeline, i / 10 % 2 ? Qt::Key_A : Qt::Key_D); });
  QTest::keyClick(timeline, Qt::Key_F);
}

double residentMiB() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word)
    if (word == "VmHWM:" && status >> word) return std::stod(word) / 1024;
  return 0;
}

/// Up to fifty runs of the store, as Compare is asked for them.
QList<qint64> fiftyRuns(const char* store) {
  QList<qint64> some;
  auto reader = storage::Reader::open(store);
  const auto runs = reader ? reader->runs() : fail(reader);
  if (!runs) return some;
  for (const storage::RunSummary& run : *runs)
    if (some.size() < 50) some.append(run.id);
  return some;
}

void openPage(Measurement& measure, MainWindow& window, Session& session, const std::string& page,
              const char* store) {
  measure.untilReady("open " + page, [&] {
    window.show();
    if (page == "compare")
      Q_EMIT session.compareRequested(fiftyRuns(store));
    else
      window.showPage(QString::fromStdString(page));
  });
}

void measureShape(Measurement& measure, MainWindow& window, Session& session,
                  const std::string& shape, const char* store) {
  measure.untilReady("window", [&] { window.show(); });
  measure.untilReady("open Runs", [&] { window.showPage(QStringLiteral("runs")); });
  if (shape == "runs") measureRuns(measure, window);

  measure.untilReady("open Live", [&] { window.showPage(QStringLiteral("live")); });
  if (shape == "spans")
    measureTimeline(measure, window.currentPage(), "Live");
  else if (shape != "runs")
    measureChart(measure, window.currentPage(), "Live");

  const QList<qint64> runs = fiftyRuns(store);
  measure.untilReady(fmt::format("open Compare of {}", runs.size()),
                     [&] { Q_EMIT session.compareRequested(runs); });
  if (shape != "spans" && shape != "runs") measureChart(measure, window.currentPage(), "Compare");
}

int usage() {
  fmt::print(stderr, "scale_window SHAPE STORE [--fill] | --open PAGE STORE; valid shapes:\n");
  for (const auto& known : bench::scale_shapes())
    fmt::print(stderr, "  {:8} {}\n", known.name, known.words);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const bool only = argc == 4 && std::strcmp(argv[1], "--open") == 0;
  const char* store = only ? argv[3] : argc > 2 ? argv[2] : "";
  if (!only) {
    const auto shapes = bench::scale_shapes();
    const auto shape =
        std::find_if(shapes.begin(), shapes.end(), [&](const bench::ScaleShape& known) {
          return argc > 2 && std::strcmp(known.name, argv[1]) == 0;
        });
    if (shape == shapes.end()) return usage();
    bench::make_scale_store(*shape, store);
    if (argc > 3 && std::strcmp(argv[3], "--fill") == 0) return 0;
  }

  setvbuf(stdout, nullptr, _IOLBF, 0);
  FlushClock application(argc, argv);
  Theme::install(Theme::Mode::dark);
  Session session(QString::fromLocal8Bit(store), false);
  MainWindow window(session);
  window.resize(2560, 1440);
  Measurement measure(application, window);
  if (only)
    openPage(measure, window, session, argv[2], store);
  else
    measureShape(measure, window, session, argv[1], store);
  fmt::print("{{\"what\": \"resident\", \"mib\": {:.0f}}}\n", residentMiB());
  return 0;
}
