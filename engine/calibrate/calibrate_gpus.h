// `heddle-engine calibrate --device cuda` on one rank.
#pragma once

#include "base/result.h"
#include "engine/launch/launch.h"
#include "engine/recipe/recipe.h"

namespace heddle::train {

/// Measures this rank's GPU and the time to exchange with the other ranks' GPUs, in groups
/// of two, of half the ranks, and of all; rank 0 writes the calibration of all ranks to
/// results.json of the run directory. An error says what is missing here, or which rank failed.
Result<> calibrate_gpus(const launch::RankContext& context, recipe::Recipe recipe);

}  // namespace heddle::train
