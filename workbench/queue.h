// Runs that wait for their target in the store's queue: sweeps, and single runs that others are
// ahead of. Who starts them: scheduler.h.
#pragma once

#include <string>
#include <vector>

#include "storage/queue.h"
#include "workbench/launch.h"
#include "workbench/sweep.h"

namespace heddle::workbench {

/// A request for each run, named after the sweep and what the run has of its own; all are of one
/// group, whose name no run of the store has yet. One run stays as `base` is.
Result<std::vector<LaunchRequest>> requests_of(storage::Reader& reader, const LaunchRequest& base,
                                               const std::vector<SweepRun>& runs);

struct Enqueuing {
  std::vector<LaunchRequest> requests;  // of one target
  int64_t at_once = 1;                  // a run starts while fewer are going on there
  storage::Halving halving = {};        // of the group; without rungs: none
};

/// Puts all of them into the queue, or none: every recipe is checked first and, where nothing is
/// going on on the target, what speaks against starting there now. Blocks as `launch` does.
tl::expected<std::vector<storage::CreatedRun>, LaunchError> enqueue(
    storage::Writer& writer, const Enqueuing& wanted, const LaunchProgress& progress = {});

}  // namespace heddle::workbench
