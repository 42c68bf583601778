#include "gui/timeline/time_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heddle::gui {
namespace {

/// The smallest 1, 2 or 5 times a power of ten that is at least `least`.
double roundStep(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) return factor * power;
  }
  return 10.0 * power;
}

struct Unit {
  double us;
  const char* name;
};

std::string labelOf(double timeUs, double stepUs) {
  if (timeUs == 0) return "0";
  constexpr Unit kUnits[] = {{1e6, "s"}, {1e3, "ms"}, {1, "µs"}};
  const auto* unit = std::find_if(std::begin(kUnits), std::end(kUnits) - 1,
                                  [&](const Unit& u) { return timeUs >= u.us * (1 - 1e-9); });
  const int digits =
      std::max(0, static_cast<int>(std::ceil(-std::log10(stepUs / unit->us) - 1e-9)));
  return fmt::format("{:.{}f} {}", timeUs / unit->us, digits, unit->name);
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
  const double step = roundStep(spacing * axis.usPerPixel());
  for (double i = std::ceil(axis.beginUs / step - 1e-9); i * step <= axis.endUs; ++i) {
    ticks.push_back({i * step, labelOf(i * step, step)});
  }
  return ticks;
}

}  // namespace heddle::gui
