// The rates that a run is planned by, the same on all ranks.
#pragma once

#include "base/result.h"
#include "engine/cost/rates.h"
#include "engine/recipe/layout.h"
#include "engine/recipe/recipe.h"
#include "engine/runs/launch.h"

namespace heddle::calibrate {

/// Rank 0's rates, sent to all ranks. Each of the layout's groups counts as the ranks that are
/// farthest apart meet it, with as many threads as any rank has. With automatic wrapping, links
/// between hosts that rank 0 has no calibration for are measured now. The process groups exist;
/// every rank calls this.
Result<cost::Rates> agree_on_rates(const recipe::Recipe& recipe, const recipe::Layout& layout,
                                   const runs::Launch& launch, c10::Device device);

}  // namespace heddle::calibrate
