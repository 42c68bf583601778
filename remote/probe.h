// The probe of a node, before anything is deployed to it.
#pragma once

#include <string>

#include "engine/probe/report.h"
#include "remote/node.h"
#include "remote/target.h"

namespace heddle::remote {

/// Runs the probe's script on the node and judges what it found. `root`: see Target::root;
/// `use`: "data" where only data is kept there.
Result<probe::Report> probe_node(Node& node, const std::string& root, const std::string& use = "");

/// The same for a target, with its folder for inputs, its prelude and its container.
Result<probe::Report> probe_for(Node& node, const Target& target);

}  // namespace heddle::remote
