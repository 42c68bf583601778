// Everything that goes with a run that is removed for good, listed before it does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/queries.h"

namespace heddle::workbench {

/// A run directory on a host.
struct RunFolder {
  std::string host;
  std::string path;
  uint64_t bytes = 0;       // 0: it is gone already
  int64_t checkpoints = 0;  // complete ones in it
};

struct Removal {
  storage::RunSize rows;           // in the store
  std::vector<RunFolder> folders;  // deleted; none of an imported run
  std::string kept;                // a folder of this machine that stays; empty: none
  std::string why_kept;            // "its checkpoints", "imported from"
};

/// Asks the run's hosts; blocks. A host that cannot be reached is an error: `remove` would refuse.
Result<Removal> removal_of(storage::Reader& reader, const storage::RunDetail& run);

}  // namespace heddle::workbench
