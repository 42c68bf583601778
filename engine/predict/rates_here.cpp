#include "engine/predict/rates_here.h"

#include <algorithm>

#include "base/clock.h"
#include "base/cores.h"
#include "base/host_name.h"
#include "engine/predict/gpu_rates.h"
#include "engine/predict/refined.h"
#include "engine/probe/gpus_here.h"
#include "engine/runs/engine_program.h"

namespace heddle::predict {
namespace {

// The first GPU's name, asked for once; empty: there is none, or it cannot be used.
const std::string& gpu_here() {
  static const std::string name = probe::gpus_here(runs::engine_program()).name;
  return name;
}

}  // namespace

cost::GroupKinds groups_of(const recipe::Layout& layout, const KindOf& kind_of) {
  cost::GroupKinds groups;
  for (const recipe::Group& group : layout.groups()) {
    if (!group.is_pair()) {
      groups[group.name] = kind_of(group.name, group.ranks);
      continue;
    }
    cost::GroupKind pair = kind_of(layout.mesh().name(recipe::kPp), group.ranks);
    pair.remote_ranks = std::min<int64_t>(pair.remote_ranks, 1);
    groups[group.name] = pair;
  }
  return groups;
}

cost::Rates kept_rates(int64_t local_ranks, int64_t threads, const cost::GroupKinds& groups) {
  const auto kept = cost::read_calibrations(cost::calibration_file());
  const cost::Host host{.name = host_name(),
                        .ranks = local_ranks,
                        .threads = threads,
                        .cores = usable_cores(),
                        .time = unix_now(),
                        .engine = HEDDLE_VERSION};
  cost::Rates rates = cost::rates_of(kept.value_or(std::vector<cost::Calibration>{}), host, groups);
  rates.threads = threads;
  rates.refinement = refinement_at(place_here("cpu", local_ranks, threads));
  if (!kept) rates.remarks.push_back(kept.error().message);
  return rates;
}

cost::Rates rates_here(const recipe::Recipe& recipe) {
  const bool gpu = recipe.hardware.device == "cuda";
  const auto local_ranks = static_cast<int>(recipe.hardware.ranks);
  const recipe::Layout layout(recipe);
  const auto groups = groups_of(layout, [=](const std::string&, int64_t ranks) {
    return cost::GroupKind{.transport = gpu ? "nccl" : "memory", .ranks = ranks};
  });
  if (gpu) return rates_of_gpus(recipe, layout, gpu_here(), local_ranks, groups);
  return kept_rates(local_ranks, threads_of_rank(local_ranks), groups);
}

}  // namespace heddle::predict
