// One rank process from its start to its exit code.
#pragma once

#include "engine/runs/launch.h"

namespace heddle::train {

/// Reads the run directory's recipe, meets the other ranks, trains or evaluates. Returns the
/// process's exit code: 0 done, 1 failed, 2 bad recipe or data, 130 stopped. Errors go to stderr
/// and to the log.
int run_rank(const runs::RankContext& context);

}  // namespace heddle::train
