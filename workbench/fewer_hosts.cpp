#include "workbench/fewer_hosts.h"

#include <fmt/format.h>

#include <cstdint>
#include <numeric>
#include <utility>

namespace heddle::workbench {
namespace {

/// The largest micro-batch up to the recipe's that divides a rank's share of the global batch.
int64_t local_batch_of(const recipe::Training& training, int64_t ranks) {
  const int64_t samples = training.global_batch / ranks;
  int64_t local = training.local_batch;
  while (samples % local != 0) --local;
  return local;
}

}  // namespace

Result<FewerHosts> fit_fewer_hosts(const recipe::Recipe& recipe, size_t hosts,
                                   std::vector<size_t> left) {
  const recipe::Parallelism& p = recipe.parallelism;
  const int64_t local_ranks = recipe.hardware.ranks / static_cast<int64_t>(hosts);
  const int64_t others = p.pp * p.cp * p.tp, global = recipe.training.global_batch;
  for (size_t taken = left.size(); taken > 0; --taken) {
    const int64_t ranks = local_ranks * static_cast<int64_t>(taken), dp = ranks / others;
    if (ranks % others != 0 || global % dp != 0) continue;
    const int64_t replicate = std::gcd(p.dp_replicate, dp);
    left.resize(taken);
    return FewerHosts{
        .hosts = std::move(left),
        .sets = {fmt::format("hardware.ranks={}", ranks),
                 fmt::format("parallelism.dp_replicate={}", replicate),
                 fmt::format("parallelism.dp_shard={}", dp / replicate),
                 fmt::format("training.global_batch={}", global),
                 fmt::format("training.local_batch={}", local_batch_of(recipe.training, dp))}};
  }
  return fail(
      "no layout with fewer data-parallel ranks fits {} of the {} hosts: each has {} ranks, "
      "tp × cp × pp is {} and training.global_batch {}; valid: a recipe for the hosts that are "
      "left, "
      "with model.checkpoint = \"FOLDER/step-N\", which begins with the weights alone",
      left.size(), hosts, local_ranks, others, global);
}

}  // namespace heddle::workbench
