#include "gui/timeline/time_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/round_step.h"
#include "base/time_units.h"

namespace heddle::gui {
namespace {

constexpr double kFinest = 0.01;  // of a minute, an hour or a day: finer times use a smaller unit

double microseconds(const TimeUnit& unit) { return unit.seconds * 1e6; }

/// Minutes, hours or days, if an axis up to `endUs` with ticks `leastUs` apart uses them.
const TimeUnit* longUnit(double endUs, double leastUs) {
  for (const TimeUnit& unit : kTimeUnits) {
    if (unit.seconds <= 1) break;
    if (endUs >= unit.from * 1e6 && leastUs >= kFinest * microseconds(unit)) return &unit;
  }
  return nullptr;
}

/// The largest of seconds and less that the time is one of.
const TimeUnit* shortUnit(double timeUs) {
  return std::ranges::find_if(kTimeUnits, [&](const TimeUnit& unit) {
    return unit.seconds <= 1e-6 || (unit.seconds <= 1 && timeUs >= microseconds(unit) * (1 - 1e-9));
  });
}

std::string labelOf(double timeUs, double stepUs, const TimeUnit& unit) {
  if (timeUs == 0) return "0";
  const double step = stepUs / microseconds(unit);
  const int digits = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  return fmt::format("{:.{}f} {}", timeUs / microseconds(unit), digits, unit.name);
}

}  // namespace

void TimeAxis::show(double fromUs, double toUs) {
  const double span = std::clamp(toUs - fromUs, std::min(kShortest, lengthUs), lengthUs);
  const double middle = (fromUs + toUs) / 2;
  beginUs = std::clamp(middle - span / 2, 0.0, lengthUs - span);
  endUs = beginUs + span;
}

void TimeAxis::zoom(double factor, double pixel) {
  const double share = std::clamp((pixel - left) / width, 0.0, 1.0);
  const double fixed = beginUs + share * (endUs - beginUs);
  const double span =
      std::clamp((endUs - beginUs) / factor, std::min(kShortest, lengthUs), lengthUs);
  show(fixed - share * span, fixed + (1 - share) * span);
}

void TimeAxis::pan(double share) {
  const double span = endUs - beginUs;
  const double begin = std::clamp(beginUs + share * span, 0.0, std::max(0.0, lengthUs - span));
  show(begin, begin + span);
}

std::vector<TimeTick> timeTicks(const TimeAxis& axis, double spacing) {
  std::vector<TimeTick> ticks;
  if (axis.width <= 0 || axis.endUs <= axis.beginUs) return ticks;
  const double least = spacing * axis.usPerPixel();
  const TimeUnit* shared = longUnit(axis.endUs, least);
  const double unitUs = shared ? microseconds(*shared) : 1;
  const double step = roundStep(least / unitUs) * unitUs;
  for (double i = std::ceil(axis.beginUs / step - 1e-9); i * step <= axis.endUs; ++i) {
    const double time = i * step;
    ticks.push_back({time, labelOf(time, step, shared ? *shared : *shortUnit(time))});
  }
  return ticks;
}

}  // namespace heddle::gui
