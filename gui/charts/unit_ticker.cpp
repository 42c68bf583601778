#include "gui/charts/unit_ticker.h"

#include <QDateTime>
#include <algorithm>
#include <array>
#include <cmath>

#include "base/round_step.h"

namespace heddle::gui {
namespace {

constexpr double kMinute = 60, kHour = 3600, kDay = 86400;
/// A logarithmic axis over less than that has evenly spaced ticks: 1, 2 and 5 would be too few.
constexpr double kDecades = 8;

double clockStep(double wanted) {
  static constexpr std::array kSteps = {
      1.0,     2.0,         5.0,         10.0,         15.0,         30.0,
      kMinute, 2 * kMinute, 5 * kMinute, 10 * kMinute, 15 * kMinute, 30 * kMinute,
      kHour,   2 * kHour,   3 * kHour,   6 * kHour,    12 * kHour};
  const auto* step = std::ranges::lower_bound(kSteps, wanted);
  return step != kSteps.end() ? *step : kDay * std::ceil(wanted / kDay);
}

}  // namespace

void UnitTicker::setRange(const QCPRange& range) {
  range_ = range;
  scaled_ = scaledUnit(unit_, std::max(std::abs(range.lower), std::abs(range.upper)));
}

bool UnitTicker::showsDecades(const QCPRange& range) const {
  return log_ && range.upper > kDecades * range.lower;
}

double UnitTicker::getTickStep(const QCPRange& range) {
  const double wanted = range.size() / scaled_.scale / tickCount();
  if (clock_) return step_ = clockStep(range.size() / tickCount());
  const double low = range.lower / scaled_.scale, high = range.upper / scaled_.scale;
  double step = roundStep(wanted);
  // A single tick does not tell how far apart values are.
  for (int tries = 0; tries < 3 && std::floor(high / step) <= std::ceil(low / step); ++tries)
    step = roundStep(step * 0.35);
  if (whole_) step = std::max(1.0, step);
  step_ = step;
  return step * scaled_.scale;
}

QVector<double> UnitTicker::createTickVector(double step, const QCPRange& range) {
  if (!showsDecades(range)) return QCPAxisTicker::createTickVector(step, range);
  QVector<double> ticks;
  const double low = range.lower / scaled_.scale, high = range.upper / scaled_.scale;
  const double decades = std::log10(high / low);
  // Where there are many decades, only every second or third is named.
  const int stride = std::max(1, static_cast<int>(std::ceil(decades / tickCount())));
  const bool between = decades * 3 <= tickCount() + 1;
  for (int power = static_cast<int>(std::floor(std::log10(low))); power <= std::log10(high);
       ++power) {
    if (power % stride != 0) continue;
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && !between) break;
      const double tick = factor * std::pow(10.0, power);
      if (tick >= low && tick <= high && (!whole_ || tick >= 1)) ticks.append(tick * scaled_.scale);
    }
  }
  return ticks;
}

QString UnitTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
  if (clock_) {
    const QDateTime time = QDateTime::fromMSecsSinceEpoch(std::llround(tick * 1000));
    return time.toString(step_ < kMinute ? "HH:mm:ss" : step_ < kDay ? "d MMM HH:mm" : "d MMM");
  }
  const double value = tick / scaled_.scale;
  return showsDecades(range_) ? tickText(value, std::min(std::abs(value), 1.0))
                              : tickText(value, step_);
}

QString UnitTicker::widestLabel(double value) {
  if (!clock_ && !log_) {
    const double step = range_.size() / (scaled_.scale * tickCount());
    return tickText(value / scaled_.scale, std::max(step, 1e-6));
  }
  (void)getTickStep(range_);
  return getTickLabel(value, {}, {}, 0);
}

}  // namespace heddle::gui
