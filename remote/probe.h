// The probe of a node, before anything is deployed to it.
#pragma once

#include <string>

#include "engine/probe/report.h"
#include "remote/node.h"

namespace heddle::remote {

/// Runs the probe's script on the node and judges what it found. `root`: see Target::root.
Result<probe::Report> probe_node(Node& node, const std::string& root);

}  // namespace heddle::remote
