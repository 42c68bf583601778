// gui_bench: what a frame of the timeline and a redraw of a chart cost, in milliseconds. Offscreen
// at 2560 × 1440: 128 lanes (64 ranks) × 600 spans, the same zoomed in, and 10 curves × 2,000
// points.
#include <fmt/format.h>

#include <QApplication>
#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>

#include "gui/charts/line_chart.h"
#include "gui/theme/theme.h"
#include "gui/timeline/timeline_widget.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

constexpr int kRanks = 64;
constexpr int kSpans = 600;
constexpr int kFrames = 30;

std::shared_ptr<const Timeline> step(int rank) {
  std::vector<telemetry::Span> spans;
  for (int64_t i = 0; i < kSpans; ++i) {
    const auto phase = static_cast<uint8_t>(i < 200 ? 0 : i < 580 ? 1 : 2);
    const auto module = fmt::format("layers.{}.attention", i / 12);
    spans.push_back({"mm", module, i * 4000, 3900, 0, phase});
    spans.push_back({"all_gather", module, i * 4000 + 37 * rank, 2500, 1, phase});
  }
  return std::make_shared<Timeline>(std::move(spans));
}

/// Median of the frames' CPU times.
double milliseconds(const std::function<void()>& frame) {
  std::vector<double> times;
  for (int i = 0; i < kFrames; ++i) {
    const std::clock_t before = std::clock();
    frame();
    times.push_back(1000.0 * static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  Theme::install(Theme::Mode::dark);

  TimelineWidget timeline;
  timeline.resize(2560, 1440);
  std::vector<TimelineRow> rows;
  for (int rank = 0; rank < kRanks; ++rank) {
    TimelineRow row;
    row.title = QStringLiteral("rank %1").arg(rank);
    row.timeline = step(rank);
    rows.push_back(std::move(row));
  }
  timeline.setPhaseBand(PhaseBand::firstRow);
  timeline.setRows(std::move(rows));
  timeline.resize(2560, timeline.layoutOfRows().height);
  timeline.show();
  QImage image(timeline.size(), QImage::Format_ARGB32_Premultiplied);
  const auto paint = [&] { timeline.render(&image); };
  fmt::print("timeline, 128 lanes x 600 spans, all: {:.1f} ms a frame\n",
             milliseconds([&] { timeline.fit(), paint(); }));
  fmt::print("timeline, a tenth of it: {:.1f} ms a frame\n", milliseconds([&] {
               timeline.zoomTo({1'000'000, 1'240'000}), paint();
             }));
  fmt::print("timeline, pointer moved over an unchanged picture: {:.1f} ms a frame\n",
             milliseconds([&] {
               timeline.select(Interval{1'000'000, 1'100'000}), paint();
             }));

  for (const int curves : {10, 50}) {
    LineChart chart(QStringLiteral("Loss"), Unit::loss);
    chart.resize(2560, 1440);
    for (int curve = 0; curve < curves; ++curve) {
      chart.addCurve(QStringLiteral("run-%1").arg(curve),
                     QColor::fromHsv(curve * 36 % 360, 180, 220));
      for (int i = 1; i <= 2000; ++i) {
        chart.append(curve, i, 4 + 0.1 * curve + std::sin(i * 12.9898 + curve) * 0.2);
      }
    }
    chart.show();
    for (const double halfLife : {0.0, 10.0}) {
      chart.setSmoothing(halfLife);
      chart.flush();
      int frame = 0;
      fmt::print("chart, {} curves x 2,000 points, {}: {:.1f} ms a redraw\n", curves,
                 halfLife > 0 ? "smoothed" : "raw",
                 milliseconds([&] { chart.setXRange(100 + 10 * ++frame, 1600 + 10 * frame); }));
    }
  }
}
