#include "gui/charts/curve_smoother.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace heddle::gui {

void CurveSmoother::take(std::span<const int64_t> steps, std::span<const double> values) {
  const auto settled =
      static_cast<size_t>(std::ranges::upper_bound(steps, steps_.settled) - steps.begin());
  add(steps.first(settled), values.first(settled));
  if (settled > 0) settled_ = ema_;
  add(steps.subspan(settled), values.subspan(settled));
}

void CurveSmoother::add(std::span<const int64_t> steps, std::span<const double> values) {
  Ema ema = ema_;  // in registers
  const auto before =
      static_cast<size_t>(std::ranges::lower_bound(steps, steps_.from) - steps.begin());
  for (size_t i = 0; i < before; ++i) ema.take(static_cast<double>(steps[i]), values[i]);
  for (size_t i = before; i < steps.size(); ++i) {
    const auto step = static_cast<double>(steps[i]);
    if (step >= nextPoint_) {
      ema_ = ema;
      beginPoint(step, values[i]);
    }
    ema.take(step, values[i]);
  }
  ema_ = ema;
}

void CurveSmoother::beginPoint(double step, double value) {
  const double number = std::floor(step / steps_.aPoint);
  if (number == number_) return;
  endPoint();
  constexpr double kRounding = 1 - 1e-14;
  number_ = number;
  nextPoint_ = (number + 1) * steps_.aPoint * kRounding;
  firstOfPoint_ = step;
  isMarked_ = !std::isfinite(value);
  if (isMarked_) curve_.append(axis_.at(step), std::numeric_limits<double>::quiet_NaN());
}

/// A point is the average after its last finite sample.
void CurveSmoother::endPoint() {
  if (ema_.weight == 0 || ema_.last < firstOfPoint_) return;
  const double x = axis_.at(ema_.last), y = ema_.average();
  isMarked_ ? curve_.replaceLast(x, y) : curve_.append(x, y);
}

Series CurveSmoother::finish() {
  endPoint();
  return std::move(curve_);
}

}  // namespace heddle::gui
