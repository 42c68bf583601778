// Smooths a curve's samples as they are read, and keeps one point for every so many steps: one pass
// at any resolution. Plain data; on the session's reading thread.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "gui/charts/curve_axis.h"
#include "gui/charts/series.h"

namespace heddle::gui {

class CurveSmoother {
 public:
  struct Steps {
    int64_t from = 0;     // the curve's first; earlier samples only count in the average
    int64_t settled = 0;  // the last that will not change
    double aPoint = 1;    // steps per kept point
  };
  /// `ema`: the average of the earlier samples; `axis` outlives this.
  CurveSmoother(const Ema& ema, Steps steps, const CurveAxis& axis)
      : ema_(ema), settled_(ema), steps_(steps), axis_(axis) {}

  /// Steps grow, also from call to call.
  void take(std::span<const int64_t> steps, std::span<const double> values);

  /// The curve. Call once, after all samples.
  Series finish();
  /// The average after the last settled step.
  const Ema& settled() const { return settled_; }

 private:
  void add(std::span<const int64_t> steps, std::span<const double> values);
  void beginPoint(double step, double value);
  void endPoint();

  Ema ema_, settled_;
  Steps steps_;
  const CurveAxis& axis_;
  Series curve_;
  double number_ = -1;    // the number of the point in progress
  double nextPoint_ = 0;  // the first step of the next point
  double firstOfPoint_ = std::numeric_limits<double>::infinity();
  bool isMarked_ = false;  // it began with a sample that is not finite
};

}  // namespace heddle::gui
