// `heddle-engine calibrate --device cuda` on one rank.
#pragma once

#include "base/result.h"
#include "engine/recipe/recipe.h"
#include "engine/runs/launch.h"

namespace heddle::calibrate {

/// Measures this rank's GPU and the time to exchange with the other ranks' GPUs, in groups
/// of two, of half the ranks, and of all; rank 0 writes the calibration of all ranks to
/// results.json of the run directory. An error says what is missing here, or which rank failed.
Result<> calibrate_gpus(const runs::RankContext& context, recipe::Recipe recipe);

}  // namespace heddle::calibrate
