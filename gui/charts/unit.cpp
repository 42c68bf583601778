#include "gui/charts/unit.h"

#include <QLocale>
#include <algorithm>
#include <cmath>

#include "base/time_units.h"

namespace heddle::gui {
namespace {

ScaledUnit bytesUnit(double largest) {
  static constexpr const char* kNames[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  double scale = 1;
  while (largest >= 1000 * scale && unit + 1 < std::size(kNames)) scale *= 1024, ++unit;
  return {scale, kNames[unit]};
}

ScaledUnit secondsUnit(double largest) {
  // Microseconds are the finest.
  const auto* unit = std::find_if(kTimeUnits.begin(), kTimeUnits.end() - 2,
                                  [&](const TimeUnit& each) { return largest >= each.from; });
  return {unit->seconds, QString::fromUtf8(unit->name)};
}

}  // namespace

ScaledUnit scaledUnit(Unit unit, double largest) {
  switch (unit) {
    case Unit::bytes:
      return bytesUnit(largest);
    case Unit::seconds:
      return secondsUnit(largest);
    case Unit::share:
      return {0.01, "%"};
    case Unit::tokens_per_second:
      return {1, "tok/s"};
    case Unit::tokens:
      return largest >= 1e9   ? ScaledUnit{1e9, "B"}
             : largest >= 1e6 ? ScaledUnit{1e6, "M"}
                              : ScaledUnit{1, ""};
    case Unit::unknown:
    case Unit::number:
    case Unit::count:
    case Unit::loss:
      break;
  }
  return {};
}

QString tickText(double value, double step) {
  if (std::abs(value) < step * 1e-6) value = 0;
  const double size = std::max(std::abs(value), step);
  if (size < 1e-3) return QString::number(value, 'g', 3);
  const int digits = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 6);
  return QLocale(QLocale::English).toString(value, 'f', digits);
}

}  // namespace heddle::gui
