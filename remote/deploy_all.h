// Brings the engine to several nodes at once, and once to nodes that share a home.
#pragma once

#include <vector>

#include "remote/deploy.h"

namespace heddle::remote {

/// As deploy(), for each node; `progress` gets the sums. Where one fails, the others stop, and
/// their parts stay.
Result<std::vector<Deployed>> deploy_all(const std::vector<Node*>& nodes, const std::string& root,
                                         const std::string& engine, const Progress& progress = {},
                                         Devices devices = Devices::cpus);

}  // namespace heddle::remote
