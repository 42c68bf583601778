// Talks to a run's supervisor on a host: `ENGINE supervise …` over the node.
#pragma once

#include <string>

#include "base/result.h"
#include "engine/launch/run_files.h"
#include "remote/node.h"
#include "workbench/place.h"

namespace heddle::workbench {

/// `option`: empty to start it, else "--status", "--stop" or "--kill". Gives the run's status
/// afterwards; the error is the engine's own words.
Result<launch::Status> ask_supervisor(remote::Node& node, const Share& share,
                                      const std::string& option);

}  // namespace heddle::workbench
