// Connects to a target's hosts and probes them. Blocks: on a working thread.
#pragma once

#include <optional>
#include <vector>

#include "remote/connect.h"
#include "workbench/cluster_now.h"
#include "workbench/targets.h"
#include "workbench/workbench.h"

namespace heddle::gui {

struct ProbeOutcome {
  remote::Target target;
  std::vector<probe::Report> reports;           // one a host, when all were reached
  std::optional<remote::ConnectError> refused;  // a host could not be reached or trusted
  std::optional<workbench::ClusterNow> cluster;
  std::string error;  // why it failed after connecting
};

/// Keeps the target in the store (this machine apart), connects, probes, keeps the first report.
/// Until then `known.probe`, what an earlier probe found, stays there. `before`: the name it had
/// until now, if it had another.
ProbeOutcome probeTarget(workbench::Workbench& workbench, const workbench::SavedTarget& known,
                         const std::string& before);

/// This machine, without a store.
ProbeOutcome probeThisMachine();

}  // namespace heddle::gui
