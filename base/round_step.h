// Round distances between the lines of an axis.
#pragma once

#include <cmath>

namespace heddle {

/// The smallest 1, 2 or 5 times a power of ten that is at least `least`, which is above zero.
inline double roundStep(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) return factor * power;
  }
  return 10.0 * power;
}

}  // namespace heddle
