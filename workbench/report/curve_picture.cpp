#include "workbench/report/curve_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/telemetry/metrics.h"
#include "workbench/report/run_look.h"

namespace heddle::workbench {
namespace {

constexpr double kChartWidth = 900, kChartHeight = 300;
constexpr double kChartLeft = 72, kChartRight = 36, kChartTop = 14, kChartBottom = 34;
constexpr size_t kFewPointsToSettle = 10;  // of a curve whose first tenth is its start
constexpr double kMuchLarger = 6;          // a start that leaves no room for the rest

struct ChartExtent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool valid() const { return low <= high; }
};

}  // namespace

Svg curve_picture(const ReportChart& chart, const std::vector<storage::RunSummary>& runs) {
  Svg svg(kChartWidth, kChartHeight);
  ChartExtent x, whole, settled;
  for (const auto& curve : chart.curves)
    for (size_t i = 0; i < curve.size(); ++i) {
      x.include(curve[i].first);
      whole.include(curve[i].second);
      if (curve.size() < kFewPointsToSettle || i >= curve.size() / kFewPointsToSettle)
        settled.include(curve[i].second);
    }
  if (!x.valid() || !whole.valid()) return svg;
  const bool cut = is_range(settled.low, settled.high) &&
                   whole.high - whole.low > kMuchLarger * (settled.high - settled.low);
  ChartExtent y = cut ? settled : whole;
  const double room =
      is_range(y.low, y.high) ? (y.high - y.low) * 0.05 : std::abs(y.low) * 0.05 + 1e-9;
  y.low -= room;
  y.high += room;
  const auto across = [&](double value) {
    const double share = x.high > x.low ? (value - x.low) / (x.high - x.low) : 0.5;
    return kChartLeft + share * (kChartWidth - kChartLeft - kChartRight);
  };
  const auto up = [&](double value) {
    const double share = (value - y.low) / (y.high - y.low);
    return kChartHeight - kChartBottom - share * (kChartHeight - kChartTop - kChartBottom);
  };
  for (const double tick : round_ticks(y.low, y.high, 5)) {
    svg.line(kChartLeft, up(tick), kChartWidth - kChartRight, up(tick), kFrame);
    svg.text(kChartLeft - 6, up(tick) + 4, telemetry::value_text(chart.metric, tick),
             Svg::Anchor::end);
  }
  for (const double tick : round_ticks(x.low, x.high, 6)) {
    svg.line(across(tick), kChartHeight - kChartBottom, across(tick),
             kChartHeight - kChartBottom + 4, kMutedInk);
    svg.text(across(tick), kChartHeight - kChartBottom + 16, count_text(tick), Svg::Anchor::middle);
  }
  svg.text(kChartWidth - kChartRight, kChartHeight - 4, "step", Svg::Anchor::end);
  if (cut)
    svg.text(kChartLeft + 6, kChartTop + 8,
             fmt::format("the start is outside of the picture: from {} to {}",
                         telemetry::value_text(chart.metric, whole.low),
                         telemetry::value_text(chart.metric, whole.high)),
             Svg::Anchor::start, kMutedInk);
  double taken = -1;  // numbers at the ends of curves do not meet
  std::vector<std::pair<double, size_t>> ends;
  svg.begin_area({kChartLeft, kChartTop, kChartWidth - kChartLeft - kChartRight,
                  kChartHeight - kChartTop - kChartBottom});
  for (size_t run = 0; run < chart.curves.size(); ++run) {
    const auto& curve = chart.curves[run];
    if (curve.empty()) continue;
    std::vector<std::pair<double, double>> points;
    for (const auto& [step, value] : curve) points.emplace_back(across(step), up(value));
    svg.polyline(points, run_color(runs[run], run), 1.4, run_dashes(run));
    ends.emplace_back(points.back().second, run);
  }
  svg.end_area();
  std::ranges::sort(ends);
  for (const auto& [at, run] : ends) {
    if (at < taken + 10) continue;
    taken = at;
    const double end = across(chart.curves[run].back().first);
    svg.text(end + 4, at + 4, run_number(run), Svg::Anchor::start, run_color(runs[run], run), true);
  }
  return svg;
}

}  // namespace heddle::workbench
