// Talks to a run's supervisor on a host: `ENGINE supervise …` over the node.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/secret.h"
#include "engine/runs/run_files.h"
#include "remote/node.h"
#include "workbench/place.h"

namespace heddle::workbench {

/// Writes launch.json and starts it, in one go. `secret`: the run's; what ends it is signed with
/// it, and ranks of several hosts prove themselves with it. `by_script`: by the run directory's
/// start.sh. Gives the run's status afterwards; the error is the engine's own words.
Result<runs::Status> start_supervisor(remote::Node& node, const Share& share,
                                      const std::string& launch, const Secret& secret,
                                      bool by_script);

/// `option`: "--status", "--stop", "--kill" … The rest is as when it is started.
Result<runs::Status> ask_supervisor(remote::Node& node, const Share& share,
                                    const std::string& option);

}  // namespace heddle::workbench
