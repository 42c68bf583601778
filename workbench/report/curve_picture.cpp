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
constexpr double kChartLeft = 72, kChartRight = 36, kChartTop = 18, kChartBottom = 34;
constexpr size_t kFewPointsToSettle = 10;  // of a curve whose first tenth is its start
constexpr double kFaint = 0.28;            // a curve behind its smoothed one
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

std::string x_text(const std::string& x, double at, int more) {
  if (x.empty() || x == "tokens") return count_text(at);
  return x == "time" ? seconds_text(at, more) : telemetry::value_text(x, at, more);
}

/// Round numbers of the unit that they are shown in: bytes are counted in powers of 1024.
std::vector<double> value_ticks(const std::string& metric, double low, double high) {
  constexpr int kAbout = 5;
  const double largest = std::max(std::abs(low), std::abs(high));
  if (telemetry::metric(metric).unit != Unit::bytes || largest < 1)
    return round_ticks(low, high, kAbout);
  const double unit = std::pow(1024, std::floor(std::log2(largest) / 10));
  std::vector<double> ticks = round_ticks(low / unit, high / unit, kAbout);
  for (double& tick : ticks) tick *= unit;
  return ticks;
}

using Points = std::vector<std::pair<double, double>>;

/// The names of the groups in a line above the curves.
void draw_groups(Svg& svg, const Report& report, const std::vector<ReportBand>& bands) {
  constexpr double kStroke = 18, kGap = 6, kBetween = 18, kLine = 10;
  double x = kChartLeft;
  for (const ReportBand& band : bands) {
    const std::string& color = color_of(report, band.first);
    svg.line(x, kLine - 4, x + kStroke, kLine - 4, color, 2);
    svg.text(x + kStroke + kGap, kLine, band.group, Svg::Anchor::start, kInk);
    x += kStroke + kGap + text_width(band.group) + kBetween;
  }
}

void draw_band(Svg& svg, const std::string& color, const Points& mean, Points low,
               const Points& high) {
  constexpr double kOpacity = 0.14;
  svg.polyline(low, color, 0.5);
  svg.polyline(high, color, 0.5);
  low.insert(low.end(), high.rbegin(), high.rend());
  svg.surface(low, color, kOpacity);
  svg.polyline(mean, color, 2);
}

}  // namespace

Svg curve_picture(const Report& report, const ReportChart& chart) {
  Svg svg(kChartWidth, kChartHeight);
  ChartExtent x, whole, settled;
  for (const auto& curve : chart.curves)
    for (size_t i = 0; i < curve.size(); ++i) {
      x.include(curve[i].first);
      whole.include(curve[i].second);
      if (curve.size() < kFewPointsToSettle || i >= curve.size() / kFewPointsToSettle)
        settled.include(curve[i].second);
    }
  for (const ReportBand& band : chart.bands)
    for (size_t i = 0; i < band.mean.size(); ++i) {
      x.include(band.mean[i].first);
      for (const auto* part : {&band.low, &band.high}) {
        whole.include((*part)[i].second);
        if (i >= band.mean.size() / kFewPointsToSettle) settled.include((*part)[i].second);
      }
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
  const std::vector<double> rows = value_ticks(chart.of.metric, y.low, y.high);
  const std::vector<std::string> values = tick_texts(rows, [&](double tick, int more) {
    return telemetry::value_text(chart.of.metric, tick, more);
  });
  for (size_t i = 0; i < rows.size(); ++i) {
    svg.line(kChartLeft, up(rows[i]), kChartWidth - kChartRight, up(rows[i]), kFrame);
    svg.text(kChartLeft - 6, up(rows[i]) + 4, values[i], Svg::Anchor::end);
  }
  const std::vector<double> places = round_ticks(x.low, x.high, 6);
  const std::vector<std::string> names =
      tick_texts(places, [&](double tick, int more) { return x_text(chart.of.x, tick, more); });
  for (size_t i = 0; i < places.size(); ++i) {
    const double at = across(places[i]), bottom = kChartHeight - kChartBottom;
    svg.line(at, bottom, at, bottom + 4, kMutedInk);
    svg.text(at, bottom + 16, names[i], Svg::Anchor::middle);
  }
  svg.text(kChartWidth - kChartRight, kChartHeight - 4,
           chart.of.x.empty() ? "step" : telemetry::words_of(chart.of.x), Svg::Anchor::end);
  if (cut)
    svg.text(kChartLeft + 6, kChartTop + 8,
             fmt::format("the start is outside of the picture: from {} to {}",
                         telemetry::value_text(chart.of.metric, whole.low),
                         telemetry::value_text(chart.of.metric, whole.high)),
             Svg::Anchor::start, kMutedInk);
  const auto placed = [&](const Points& values) {
    Points points;
    for (const auto& [place, value] : values) points.emplace_back(across(place), up(value));
    return points;
  };
  std::vector<std::pair<Points::value_type, size_t>> ends;
  svg.begin_area({kChartLeft, kChartTop, kChartWidth - kChartLeft - kChartRight,
                  kChartHeight - kChartTop - kChartBottom});
  for (size_t run = 0; run < chart.curves.size(); ++run) {
    const auto& curve = chart.curves[run];
    if (curve.empty()) continue;
    const std::string& color = color_of(report, run);
    const Points raw = placed(curve), smooth = placed(chart.smooth[run]);
    if (smooth.empty()) {
      svg.polyline(raw, color, 1.4, run_dashes(run));
    } else {
      svg.polyline(raw, color, 1, {}, kFaint);
      svg.polyline(smooth, color, 1.6, run_dashes(run));
    }
    ends.emplace_back(smooth.empty() ? raw.back() : smooth.back(), run);
  }
  for (const ReportBand& band : chart.bands)
    draw_band(svg, color_of(report, band.first), placed(band.mean), placed(band.low),
              placed(band.high));
  svg.end_area();
  draw_groups(svg, report, chart.bands);
  // Numbers at the ends of curves that meet stand next to each other, as far as there is room.
  constexpr double kApartX = 16, kApartY = 10, kDigitWidth = 8;
  struct Taken {
    Points::value_type at;
    double right;
  };
  std::vector<Taken> taken;
  for (const auto& [end, run] : ends) {
    const auto& [at_x, at_y] = end;
    auto near = std::ranges::find_if(taken, [&](const Taken& other) {
      return std::abs(other.at.first - at_x) < kApartX &&
             std::abs(other.at.second - at_y) < kApartY;
    });
    if (near == taken.end()) near = taken.insert(near, {end, at_x + 4});
    const std::string number = run_number(run);
    const double wide = kDigitWidth * static_cast<double>(number.size());
    if (near->right + wide > kChartWidth) continue;
    svg.text(near->right, near->at.second + 4, number, Svg::Anchor::start, color_of(report, run),
             true);
    near->right += wide + 2;
  }
  return svg;
}

}  // namespace heddle::workbench
