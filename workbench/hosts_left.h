// The hosts that a run goes on with when some of its own are lost: the others, and the spares of
// its target. Blocks: never call from the GUI thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/recipe/recipe.h"
#include "remote/target.h"
#include "storage/queries.h"

namespace heddle::workbench {

struct HostsLeft {
  std::vector<size_t> left;         // of the run's own hosts, by number: those that it keeps
  std::vector<remote::Host> hosts;  // of the new run: these, then spares
  std::vector<std::string> sets;    // "key=value", on top of the recipe
  std::string words;                // "without other: on loom and c, a spare"
  std::vector<std::string> notes;   // why a spare is not used
};

/// `without`: names. `recipe` is the run's, resolved. Spares take the places of lost hosts where
/// they answer and see the run's directory; else the run gets fewer data-parallel ranks and keeps
/// its global batch.
Result<HostsLeft> find_hosts_left(storage::Reader& reader, const std::vector<std::string>& without,
                                  const storage::RunDetail& run, const recipe::Recipe& recipe);

/// A run's target with those hosts; the spares among them are none any more.
remote::Target with_hosts(remote::Target target, std::vector<remote::Host> hosts);

}  // namespace heddle::workbench
