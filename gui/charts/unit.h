// Units on axes: their sizes and ticks. Values with their units are base/number_text.h's.
#pragma once

#include <QString>

#include "base/number_text.h"

namespace heddle::gui {

/// A unit in the size that suits values up to `largest`: bytes become MiB, seconds ms.
struct ScaledUnit {
  double scale = 1;  // the axis shows value / scale
  QString name;      // "MiB", "tok/s"; empty for plain numbers
};

ScaledUnit scaledUnit(Unit unit, double largest);

/// A tick in the scaled unit, with comma thousands and as many digits as `step` needs.
QString tickText(double value, double step);

}  // namespace heddle::gui
