// A cluster as it is now: its nodes, and what a person has in its queue.
#pragma once

#include <string>
#include <vector>

#include "remote/slurm.h"
#include "remote/slurm_nodes.h"

namespace heddle::workbench {

/// A job of the person who is logged in there.
struct ClusterJob {
  remote::SlurmJob job;
  int64_t position = 0;  // among those that wait in its partition; 0: it does not
};

struct ClusterNow {
  std::string version;                     // of Slurm: "22.05.8"
  std::string partition;                   // of the target's jobs
  std::vector<remote::ClusterNode> nodes;  // of that partition, in Slurm's order
  std::vector<ClusterJob> jobs;
};

}  // namespace heddle::workbench
