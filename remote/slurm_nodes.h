// A cluster's nodes, as Slurm's commands print them. No connections here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "remote/target.h"

namespace heddle::remote {

/// A part of a partition: nodes that are alike.
struct PartitionNodes {
  std::string partition;
  bool is_default = false;
  bool up = true;
  int64_t nodes = 0;
  std::string state;  // idle, mixed, allocated, down …
  int64_t cores = 0;
  int64_t memory_bytes = 0;
  int32_t gpus = 0;
  std::string gpu_kind;  // "a100"; empty: Slurm does not say
  std::string time_limit;
};

std::vector<std::string> sinfo_words();
std::vector<PartitionNodes> partitions_from(const std::string& sinfo);

/// The nodes that a job of these options can get: of its partition, or of the default one, with
/// enough GPUs; the smallest kind of them. An error says what there is instead.
Result<PartitionNodes> nodes_for(const JobRequest& request, const std::vector<PartitionNodes>& all);

/// A node, and how much of it jobs have.
struct ClusterNode {
  enum class Use { idle, mixed, allocated, draining, down };

  std::string name;
  std::vector<std::string> partitions;
  std::string state;   // Slurm's words: "IDLE", "MIXED+DRAIN", "DOWN*"
  std::string reason;  // why it takes no jobs; empty: it does, or nobody said
  int64_t cores = 0, cores_used = 0;
  int64_t memory_bytes = 0;
  int32_t gpus = 0, gpus_used = 0;
  std::string gpu_kind;  // "a100"; empty: Slurm does not say

  Use use() const;
  bool takes_jobs() const { return use() <= Use::allocated; }
};

/// The words of `scontrol show node`.
std::vector<std::string> show_nodes_words();
/// Lines that are none are left out.
std::vector<ClusterNode> cluster_nodes_from(const std::string& scontrol);
/// The nodes that a job of these options may get: of its partitions, or of the default one.
std::vector<ClusterNode> nodes_in(const JobRequest& request, const std::string& default_partition,
                                  std::vector<ClusterNode> all);

}  // namespace heddle::remote
