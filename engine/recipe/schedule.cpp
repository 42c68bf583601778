#include "engine/recipe/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heddle::recipe {

double lr_factor(const Schedule& schedule, int64_t steps, int64_t step) {
  const int64_t warmup = schedule.warmup_steps;
  if (step < warmup) return static_cast<double>(step + 1) / static_cast<double>(warmup);
  if (schedule.decay == Decay::none) return 1.0;
  const int64_t decay = schedule.decay_ratio > 0.0
                            ? std::llround(static_cast<double>(steps) * schedule.decay_ratio)
                            : steps - warmup;
  const int64_t first = steps - decay;  // at the highest rate
  if (step < first || decay <= 0) return 1.0;
  // A last step at a rate of 0 would change nothing: 0 would be reached by the step after it.
  const int64_t way = schedule.min_lr_factor > 0 ? decay - 1 : decay;
  const double p =
      way > 0 ? std::min(1.0, static_cast<double>(step - first) / static_cast<double>(way)) : 1.0;
  double f = 1.0 - p;
  if (schedule.decay == Decay::sqrt) f = 1.0 - std::sqrt(p);
  if (schedule.decay == Decay::cosine) f = 0.5 * (1.0 + std::cos(std::numbers::pi * p));
  return schedule.min_lr_factor + (1.0 - schedule.min_lr_factor) * f;
}

}  // namespace heddle::recipe
