// A predicted step in tokens a second and as a share of the device's FLOP/s.
#pragma once

#include "engine/plan/document.h"
#include "engine/recipe/recipe.h"

namespace heddle::predict {

/// From `step_seconds`, `ranks` and `peak_flops`, by every convention that there is.
void add_throughput(plan::Document& document, const recipe::Recipe& recipe, bool eight_bits);

}  // namespace heddle::predict
