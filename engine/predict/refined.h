// Lessons for the next run from runs that have finished here.
#pragma once

#include <cstdint>
#include <string>

#include "engine/cost/refinement.h"

namespace heddle::predict {

/// Here and now, by this build of the program: a hash of its file. `device`: "cpu", "cuda".
cost::RunPlace place_here(const std::string& device, int64_t local_ranks, int64_t threads);

/// Learns from the runs there that have finished.
cost::Refinement refinement_at(const cost::RunPlace& place);

}  // namespace heddle::predict
