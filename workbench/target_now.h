// A target as it is now: what of its hosts is free, and what they have already. The probe that the
// store keeps is as old as it is; a launch asks again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/probe/report.h"
#include "remote/connect.h"
#include "remote/target.h"

namespace heddle::workbench {

struct HostNow {
  std::string name;
  probe::Report report = {};
  // If the host does not have this machine's files:
  std::set<std::string> blobs = {};  // names in the `blobs` of the target's folder for inputs
  std::optional<int64_t> free_data_bytes = {};  // there, where the target has a data root
  // Bytes of the engine still to be sent: for runs on CPUs, and for runs on GPUs where the host
  // has some and there is a plug-in.
  uint64_t engine_bytes = 0;
  uint64_t gpu_engine_bytes = 0;
  // The engine's id where it is there whole.
  std::string engine_id = {};
  std::string gpu_engine_id = {};
};

struct TargetNow {
  remote::Target target;
  std::vector<HostNow> hosts = {};  // as the target's; empty when one could not be looked at
  std::string error = {};           // why not, and what to do
  std::optional<remote::ConnectError> refused = {};  // a host could not be reached or trusted
  std::vector<std::string> slow_links = {};          // at the last measurement between these hosts
  // Why runs cannot use GPUs; empty: this machine's engine has its plug-in.
  std::string plugin_fault = {};
};

using Nodes = std::vector<std::unique_ptr<remote::Node>>;

/// Connects to the hosts of a target, in order.
tl::expected<Nodes, remote::ConnectError> connect_all(const remote::Target& target);

/// Connects and checks. Blocks: never on the GUI thread.
TargetNow look_at(const remote::Target& target);

}  // namespace heddle::workbench
