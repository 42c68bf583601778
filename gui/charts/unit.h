// Units of values: how axes and tooltips write them.
#pragma once

#include <QString>

namespace heddle::gui {

enum class Unit { number, count, loss, bytes, tokensPerSecond, tokens, seconds, percent };

/// A unit in the size that suits values up to `largest`: bytes become MiB, seconds ms.
struct ScaledUnit {
  double scale = 1;  // the axis shows value / scale
  QString name;      // "MiB", "tok/s"; empty for plain numbers
};

ScaledUnit scaledUnit(Unit unit, double largest);

/// A value with its unit, for tooltips and legends: "6,305 tok/s".
QString withUnit(Unit unit, double value);

/// A tick in the scaled unit, with comma thousands and as many digits as `step` needs.
QString tickText(double value, double step);

}  // namespace heddle::gui
