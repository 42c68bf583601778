// Ranks that measure, for `calibrate` on CPUs and on GPUs.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"

namespace heddle::torch_commands {

/// Runs the ranks in a folder of their own, with this recipe if it is not empty: what rank 0 has
/// left as its results. The error is the failed rank's.
Result<nlohmann::json> measure_with_ranks(int32_t ranks, const std::string& recipe);

}  // namespace heddle::torch_commands
