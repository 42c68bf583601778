// The learning rate over the steps.
#pragma once

#include <cstdint>

#include "engine/recipe/recipe.h"

namespace heddle::recipe {

/// The learning rate's factor at a step (0-based) of `steps`: linear warm-up, a stable stretch,
/// then decay, which the last step ends at `min_lr_factor`. A factor of 0 would belong to one step
/// more (as in TorchTitan's components/lr_scheduler.py), so that no step is wasted.
double lr_factor(const Schedule& schedule, int64_t steps, int64_t step);

}  // namespace heddle::recipe
