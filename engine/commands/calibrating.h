// Measuring the machine: what `calibrate` of CPUs (commands.h) and of GPUs have in common, and the
// latter.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"

namespace heddle::commands {

/// Runs the ranks in a folder of their own, with this recipe if it is not empty: what rank 0 has
/// left as its results. The error is the failed rank's.
Result<nlohmann::json> measure_with_ranks(int32_t ranks, const std::string& recipe);

/// `calibrate --device cuda`: measures GPUs, one for each of `ranks` ranks, or all of the node (0);
/// puts an entry of what was found into the user's folder of the catalogue, and prints it. Returns
/// the exit code.
int calibrate_gpus(int32_t ranks, bool json);

}  // namespace heddle::commands
