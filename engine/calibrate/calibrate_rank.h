// One rank that measures this machine.
#pragma once

#include "base/result.h"
#include "engine/runs/launch.h"

namespace heddle::calibrate {

/// One rank of `heddle-engine calibrate`: rank 0 writes the calibration to results.json of the run
/// directory.
Result<> calibrate(const runs::RankContext& context);

}  // namespace heddle::calibrate
