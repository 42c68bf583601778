// What a host makes of a target's prelude and container, before a run and after a failed start.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/probe/report.h"
#include "remote/node.h"
#include "remote/target.h"

namespace heddle::remote {

/// The target's prelude, read on this machine; empty where it has none.
Result<std::string> read_prelude(const Target& target);

/// Sources the prelude as a start would, and looks for the container's program and image in what it
/// leaves. Changes nothing on the host. None where the target has neither.
Result<std::vector<probe::Check>> check_start(Node& node, const Target& target);

/// Puts the script that starts a run's supervisor, and the prelude, into its run directory. Does
/// nothing for a target that has neither prelude nor container.
Result<> put_start_script(Node& node, const Target& target, const std::string& run_dir,
                          const std::string& engine, bool gpus);

/// Options of srun that put a job's tasks into the target's container.
Result<std::vector<std::string>> srun_options(Node& node, const Target& target);

/// Why the prelude of a run directory kept the supervisor from being started; empty: it did not.
Result<std::string> prelude_fault(Node& node, const std::string& run_dir);

}  // namespace heddle::remote
