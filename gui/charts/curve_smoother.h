// Smooths the samples of a curve as they are read, and keeps a point for some steps: in one pass,
// whatever the resolution. Plain data; on the session's reading thread.
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
    int64_t from = 0;     // the first that the curve has: earlier samples weigh in
    int64_t settled = 0;  // the last that will not change
    double aPoint = 1;    // for which one point is kept
  };
  /// `ema`: after the samples before; `axis` outlives it.
  CurveSmoother(const Ema& ema, Steps steps, const CurveAxis& axis)
      : ema_(ema), settled_(ema), steps_(steps), axis_(axis) {}

  /// Steps grow, from call to call too.
  void take(std::span<const int64_t> steps, std::span<const double> values);

  /// The curve: once, after all samples.
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
  double number_ = -1;    // of the point that is being made
  double nextPoint_ = 0;  // no step before belongs to another one
  double firstOfPoint_ = std::numeric_limits<double>::infinity();
  bool isMarked_ = false;  // it began with a sample that is not finite
};

}  // namespace heddle::gui
