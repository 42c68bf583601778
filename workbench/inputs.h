// The files that a recipe reads, and how they get to a host.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/recipe/parse.h"
#include "remote/node.h"

namespace heddle::workbench {

/// Faults of the recipe whose input files or folders are not on this machine.
std::vector<recipe::Fault> missing_inputs(const recipe::Parsed& parsed);

/// Brings every input to the node, as ROOT/blobs/<SHA-256>/NAME, unless it is there already, and
/// gives the recipe with the paths on the node; on this machine the recipe as it is. `hashing` is
/// told the bytes of each large file while it is hashed; then `sending`, of no bytes once, and of
/// those of each file that is sent.
Result<recipe::Recipe> ship_inputs(remote::Node& node, const std::string& root,
                                   recipe::Recipe recipe, const remote::Progress& hashing,
                                   const remote::Progress& sending);

}  // namespace heddle::workbench
