// The average that smooths curves. Plain data; any thread.
#pragma once

#include <cmath>
#include <limits>

namespace heddle {

/// Exponential moving average of samples: the mean of all samples so far, each weighing half as
/// much for every half-life of distance. Evenly spaced samples give what Adam's corrected moment
/// is.
struct Ema {
  double half_life = 1;  // in what `at` counts
  double sum = 0;
  double weight = 0;
  double last = 0;
  // The last distance, and the share of the sums that it leaves: most distances are equal.
  double distance = 0;
  double decay = 1;
  /// False for a sample that is not finite, which is skipped.
  bool take(double at, double value) {
    if (!std::isfinite(value)) return false;
    if (weight > 0 && at - last != distance) {
      distance = at - last;
      decay = std::exp2(-distance / half_life);
    }
    sum = sum * decay + value;
    weight = weight * decay + 1;
    last = at;
    return true;
  }
  double average() const { return sum / weight; }
  /// The average after one more sample; NaN for a skipped one.
  double next(double at, double value) {
    return take(at, value) ? average() : std::numeric_limits<double>::quiet_NaN();
  }
  /// In steps, of curves whose smoothing nobody chose.
  static constexpr double kUsualHalfLife = 10;
  /// So many half-lives away a sample's weight is below the last bit of the others' sum.
  static constexpr double kMemory = 60;
};

}  // namespace heddle
