// Whether a host's share of a run fits on the host: what its ranks need against what is free there,
// before any of them is started. The same for `train`, a supervisor, and the workbench's preflight.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/probe/report.h"
#include "engine/recipe/recipe.h"
#include "engine/runs/launch.h"

namespace heddle::launch {

/// Needs of a host's share of a run; by formula (holdings/needs.h), within 20 %.
struct Demand {
  int64_t ranks = 1;
  bool on_gpus = false;             // a GPU each
  bool shares_gpus = false;         // or one of several ranks
  int64_t rank_bytes = 0;           // a rank's own memory on the host
  int64_t shared_bytes = 0;         // of the programs' code, which the ranks of a host share
  int64_t gpu_bytes = 0;            // of each rank's GPU
  int64_t shared_memory_bytes = 0;  // in /dev/shm; only NCCL's ranks use it
  int64_t checkpoint_bytes = 0;     // that each checkpoint takes on this host's disk

  int64_t host_bytes() const { return shared_bytes + ranks * rank_bytes; }
};

/// Takes a resolved recipe with the vocabulary's size.
Demand demand_of(const recipe::Recipe& recipe, int64_t local_ranks);

/// Cores, memory, and, for ranks on GPUs, GPUs and /dev/shm: whether each suffices, with the
/// numbers and what would help. `overcommit` (hardware.overcommit) makes warnings of failures.
std::vector<probe::Check> judge(const Demand& demand, const probe::Report& host, bool overcommit);

/// The checks that do not pass for the ranks of a run directory on this machine. None where its
/// recipe.toml is missing or has faults: the ranks say more of that.
std::vector<probe::Check> admission_of(const std::string& run_dir, const runs::Launch& launch);

/// "memory: 1,000 ranks need …; take fewer ranks …": a check in a line.
std::string line_of(const probe::Check& check);

}  // namespace heddle::launch
