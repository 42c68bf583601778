// The rates that a run is planned by, the same on all ranks; and how they are measured.
#pragma once

#include "base/result.h"
#include "engine/cost/rates.h"
#include "engine/launch/launch.h"
#include "engine/recipe/layout.h"
#include "engine/recipe/recipe.h"

namespace heddle::train {

/// As the recipe's ranks would have them on this host: from its calibration.
cost::Rates rates_here(const recipe::Recipe& recipe);

/// Rank 0's, told to all ranks: of each of the layout's groups as those ranks meet it that are
/// farthest apart, and of as many threads as any rank has. With automatic wrapping, links between
/// hosts that rank 0 has no calibration of are measured now. The process groups exist; every rank
/// calls this.
Result<cost::Rates> agree_on_rates(const recipe::Recipe& recipe, const recipe::Layout& layout,
                                   const launch::Launch& launch, c10::Device device);

/// One rank of `heddle-engine calibrate`: rank 0 writes the calibration to results.json of the run
/// directory.
Result<> calibrate(const launch::RankContext& context);

}  // namespace heddle::train
