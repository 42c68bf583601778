// The folder of a run's checkpoints, as its ranks find it before the first step.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "engine/runs/launch.h"

namespace heddle::train {

struct CheckpointPlace {
  std::string folder;
  /// One of the ranks that see the same folder: rank 0 where all hosts share it, else one a host.
  /// It alone names and removes checkpoints there.
  bool is_keeper = false;
  std::shared_ptr<const void> lock;  // the keeper's: no other run saves there
};

/// Makes the folder where it is missing, finds out which hosts share it, and removes what
/// unfinished saves have left. Every rank calls this; an error is the same on all of them.
Result<CheckpointPlace> meet_at(const std::string& folder, const runs::RankContext& context);

}  // namespace heddle::train
