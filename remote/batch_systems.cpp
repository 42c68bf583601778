#include "remote/batch_systems.h"

#include <algorithm>

#include "remote/slurm.h"

namespace heddle::remote {
namespace {

constexpr JobField kSlurmFields[] = {
    {&JobRequest::partition, "partition", "--partition", "NAME", "default: the cluster's",
     "partition", "the default one", 0, 0, "", true},
    {&JobRequest::account, "account", "--account", "NAME", "what the job is charged to", "account",
     "yours"},
    {&JobRequest::qos, "qos", "--qos", "NAME", "quality of service", "QOS", "the default one"},
    {&JobRequest::time_limit, "time_limit", "--time", "TIME", "the time limit, as sbatch takes it",
     "time limit", "4:00:00 or 2-12"},
    {&JobRequest::nodes, "nodes", "--nodes", "N", "that a job takes; default: 1", "nodes", "", 1,
     10'000},
    {&JobRequest::gpus_per_node, "gpus_per_node", "--gpus-per-node", "N",
     "default: none, ranks on CPUs", "GPUs a node", "none", 0, 64},
    {&JobRequest::cpus_per_node, "cpus_per_node", "--cpus-per-node", "N",
     "default: one for each rank", "CPUs a node", "one a rank", 0, 10'000},
    {&JobRequest::options, "options", "--sbatch", "OPTION",
     "a further option of sbatch, as in --sbatch=--mem=0; repeatable", "options",
     "--mem=0 --constraint=a100", 0, 0,
     "Further options of sbatch, by spaces: --NAME or --NAME=VALUE each"}};

constexpr BatchSystem kSystems[] = {
    {.key = "slurm",
     .name = "Slurm",
     .place = "a Slurm cluster behind its login node",
     .host = "login node",
     .mark = "it is the login node of a Slurm cluster",
     .help = "runs are jobs of a Slurm cluster, one supervisor a node",
     .has_many_nodes = true,
     .has_pyxis = true,
     .fields = kSlurmFields,
     .check = check_slurm}};

}  // namespace

std::span<const BatchSystem> batch_systems() { return kSystems; }

const BatchSystem* batch_system(std::string_view key) {
  const auto found = std::ranges::find(kSystems, key, &BatchSystem::key);
  return found == std::end(kSystems) ? nullptr : found;
}

}  // namespace heddle::remote
