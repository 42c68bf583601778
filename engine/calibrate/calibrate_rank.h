// One rank that measures this machine.
#pragma once

#include "base/result.h"
#include "engine/launch/launch.h"

namespace heddle::train {

/// One rank of `heddle-engine calibrate`: rank 0 writes the calibration to results.json of the run
/// directory.
Result<> calibrate(const launch::RankContext& context);

}  // namespace heddle::train
