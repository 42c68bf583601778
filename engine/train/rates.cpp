#include "engine/train/rates.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "base/host_name.h"
#include "engine/graph/error_text.h"
#include "engine/launch/run_files.h"
#include "engine/passes/stage.h"
#include "engine/recipe/stages.h"
#include "engine/runtime/collectives.h"
#include "engine/runtime/process_groups.h"
#include "engine/train/measure.h"

namespace heddle::train {
namespace {

// The groups that the recipe's step has, each of more than one rank.
template <typename KindOf>
cost::GroupKinds groups_of(const recipe::Recipe& recipe, const KindOf& kind_of) {
  cost::GroupKinds groups;
  const recipe::Mesh mesh(recipe.parallelism);
  for (const recipe::Dims dims : recipe::kGroups)
    if (const std::string name = mesh.name(dims); !name.empty())
      groups[name] = kind_of(name, mesh.size(dims));
  // All along a pipeline travels as the group of its ranks does.
  if (recipe.parallelism.pp == 1) return groups;
  cost::GroupKind pair = kind_of(mesh.name(recipe::kPp), 2);
  pair.remote_ranks = std::min<int64_t>(pair.remote_ranks, 1);
  const auto stages = static_cast<int64_t>(recipe::layers_of_stages(recipe).size());
  for (int64_t stage = 0; stage + 1 < stages; ++stage)
    groups[passes::transfer_group(stage, stage + 1)] =
        groups[passes::transfer_group(stage + 1, stage)] = pair;
  groups[passes::kEndsGroup] = pair;
  return groups;
}

cost::Rates kept_rates(int64_t local_ranks, const cost::GroupKinds& groups, bool gpu) {
  if (gpu) return cost::gpu_rates(groups);
  const auto kept = cost::read_calibrations(cost::calibration_file());
  cost::Rates rates = cost::rates_of(kept.value_or(std::vector<cost::Calibration>{}), host_name(),
                                     local_ranks, groups);
  if (!kept) rates.remarks.push_back(kept.error().message);
  return rates;
}

// Rank 0's text, on every rank.
std::string of_rank_0(const std::string& text, int64_t ranks, c10::Device device) {
  const auto gathered = [&](const at::Tensor& mine) {
    return runtime::wait(runtime::all_gather({mine.to(device)}, {mine.size(0) * ranks},
                                             runtime::world_group()))
        .front()
        .cpu();
  };
  const auto length = static_cast<int64_t>(text.size());
  const int64_t longest = gathered(at::full({1}, length, at::kLong)).max().item<int64_t>();
  const at::Tensor mine = at::zeros({longest + 1}, at::kByte);
  std::memcpy(mine.mutable_data_ptr(), text.data(), text.size());
  const at::Tensor all = gathered(mine);
  return reinterpret_cast<const char*>(all.const_data_ptr());
}

bool between_hosts(const std::string& transport) {
  return transport == "tcp" || transport == "memory + tcp";
}

}  // namespace

cost::Rates rates_here(const recipe::Recipe& recipe) {
  const bool gpu = recipe.hardware.device == "cuda";
  const auto on_one_host = [=](const std::string&, int64_t ranks) {
    return cost::GroupKind{.transport = gpu ? "nccl" : "memory", .ranks = ranks};
  };
  return kept_rates(recipe.hardware.ranks, groups_of(recipe, on_one_host), gpu);
}

Result<cost::Rates> agree_on_rates(const recipe::Recipe& recipe, const launch::Launch& launch,
                                   c10::Device device) try {
  at::NoGradGuard no_grad;
  const auto as_met = [](const std::string& name, int64_t ranks) {
    return cost::GroupKind{.transport = runtime::transport_name(name),
                           .ranks = ranks,
                           .remote_ranks = runtime::remote_ranks(name)};
  };
  cost::Rates rates = kept_rates(launch.local_ranks, groups_of(recipe, as_met), device.is_cuda());
  const int64_t ranks = launch.world_size;
  if (ranks == 1) return rates;
  rates = cost::rates_from_json(
      nlohmann::json::parse(of_rank_0(cost::to_json(rates).dump(), ranks, device)));
  if (recipe.wrapping.mode != recipe::WrappingMode::automatic) return rates;
  bool measured = false;
  for (auto& [name, link] : rates.links) {
    if (!link.estimated || !between_hosts(link.transport)) continue;
    if (name.starts_with("pp ")) continue;  // of two of the pipeline's ranks: as all of them
    link = measure_link(runtime::process_group(name), link.transport, few_sizes());
    measured = true;
  }
  if (!measured) return rates;
  if (const std::string pipeline = recipe::Mesh(recipe.parallelism).name(recipe::kPp);
      !pipeline.empty())
    for (auto& [name, link] : rates.links)
      if (name.starts_with("pp ")) link = rates.links.at(pipeline);
  return cost::rates_from_json(
      nlohmann::json::parse(of_rank_0(cost::to_json(rates).dump(), ranks, device)));
} catch (const std::exception& error) {
  return fail("the ranks cannot agree on rates: {}", graph::error_text(error));
}

Result<> calibrate(const launch::RankContext& context) {
  const int32_t ranks = context.launch.world_size;
  recipe::Parallelism all;
  all.dp_shard = ranks;
  const recipe::Mesh mesh(all);
  if (const auto met = runtime::init_process_groups(context, mesh, 1, at::kCPU); !met) return met;
  cost::Calibration calibration;
  calibration.host = host_name();
  calibration.link = {.transport = runtime::transport_name(runtime::world_group()), .ranks = ranks};
  if (ranks > 1)
    calibration.link = measure_link(runtime::process_group(runtime::world_group()),
                                    calibration.link.transport, many_sizes());
  auto operators = measure_operators();
  if (!operators) return fail(operators);
  calibration.operators = std::move(*operators);
  if (context.rank != 0) return {};
  return launch::write_atomically(context.run_dir + "/results.json",
                                  cost::to_json(calibration).dump() + "\n");
}

}  // namespace heddle::train
