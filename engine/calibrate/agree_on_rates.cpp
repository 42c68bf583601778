#include "engine/calibrate/agree_on_rates.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/read_json.h"
#include "engine/calibrate/measure.h"
#include "engine/graph/error_text.h"
#include "engine/predict/gpu_rates.h"
#include "engine/predict/rates_here.h"
#include "engine/runtime/agreement.h"
#include "engine/runtime/device.h"
#include "engine/runtime/device_properties.h"
#include "engine/runtime/process_groups.h"

namespace heddle::calibrate {
namespace {

// The rates of a run as ranks know them, each by itself or all of them.
struct View {
  cost::GroupKinds groups;
  int64_t threads = 1;
  std::map<std::string, size_t> rank;  // by group: the first of those that see it so
};

std::vector<View> views_of_ranks(const recipe::Layout& layout, int64_t ranks) {
  const auto as_met = [](const std::string& name, int64_t size) {
    return cost::GroupKind{.transport = runtime::transport_name(name),
                           .ranks = size,
                           .remote_ranks = runtime::remote_ranks(name)};
  };
  nlohmann::json mine = {{"threads", at::get_num_threads()}, {"groups", nlohmann::json::object()}};
  for (const auto& [name, kind] : predict::groups_of(layout, as_met))
    mine["groups"][name] = {kind.transport, kind.ranks, kind.remote_ranks};
  std::vector<View> views;
  for (const std::string& text : runtime::gather_texts(json_text(mine), ranks)) {
    const nlohmann::json read = read_json(text).value();
    View view;
    view.threads = read.at("threads");
    for (const auto& [name, kind] : read.at("groups").items())
      view.groups[name] = {kind.at(0), kind.at(1), kind.at(2)};
    views.push_back(std::move(view));
  }
  return views;
}

// Some ranks share a host with their group, while other ranks have theirs on other hosts:
// the farthest counts, since all ranks plan alike.
View agreed(const std::vector<View>& views) {
  View all = views.front();
  const auto distance = [](const cost::GroupKind& kind) {
    return std::pair(kind.remote_ranks, kind.transport == "tcp");
  };
  for (size_t rank = 0; rank < views.size(); ++rank) {
    all.threads = std::max(all.threads, views[rank].threads);
    for (const auto& [name, kind] : views[rank].groups) {
      if (rank > 0 && distance(kind) <= distance(all.groups.at(name))) continue;
      all.groups[name] = kind;
      all.rank[name] = rank;
    }
  }
  return all;
}

// The rates of all ranks in their order, on each of them.
std::vector<cost::Rates> of_ranks(const cost::Rates& mine, int64_t ranks) {
  std::vector<cost::Rates> all;
  for (const std::string& text : runtime::gather_texts(json_text(cost::to_json(mine)), ranks))
    all.push_back(cost::rates_from_json(read_json(text).value()));
  return all;
}

// Memory of a GPU that a step may take: what is free once the context, cuBLAS's workspaces and
// NCCL's connections are there, as they are when the ranks have met, less what later calls still
// make (code of kernels, NCCL's buffers for other collectives), which is a guess.
int64_t room_of(c10::Device device) {
  constexpr int64_t kLater = int64_t{1} << 30;
  const int64_t free = runtime::free_bytes(device);
  return free == 0 ? 0 : std::max<int64_t>(free - kLater, 1);
}

bool between_hosts(const std::string& transport) {
  return transport == "tcp" || transport == "memory + tcp";
}

}  // namespace

Result<cost::Rates> agree_on_rates(const recipe::Recipe& recipe, const recipe::Layout& layout,
                                   const runs::Launch& launch, c10::Device device) try {
  at::NoGradGuard no_grad;
  const View all = agreed(views_of_ranks(layout, launch.world_size));
  cost::Rates rates =
      device.is_cuda()
          ? predict::rates_of_gpus(recipe, layout, runtime::make_device_run(device)->name(),
                                   launch.local_ranks, all.groups)
          : predict::kept_rates(launch.local_ranks, all.threads, all.groups);
  rates.device_bytes = room_of(device);
  if (device.is_cuda()) rates.multiprocessors = runtime::device_properties(device).multiprocessors;
  if (launch.world_size == 1) return rates;
  const std::vector<cost::Rates> told = of_ranks(rates, launch.world_size);
  rates = told.front();
  for (const cost::Rates& each : told) {
    rates.device_bytes = std::min(rates.device_bytes, each.device_bytes);
    rates.multiprocessors = std::max(rates.multiprocessors, each.multiprocessors);
  }
  if (recipe.wrapping.mode != recipe::WrappingMode::automatic) return rates;
  bool measured = false;
  for (auto& [name, link] : rates.links) {
    if (!link.estimated || !between_hosts(link.transport)) continue;
    if (layout.group(name)->is_pair()) continue;  // as all of the pipeline's ranks
    link = measure_link(runtime::process_group(name), link.transport, few_sizes());
    measured = true;
  }
  if (!measured) return rates;
  const std::vector<cost::Rates> of_each = of_ranks(rates, launch.world_size);
  for (auto& [name, link] : rates.links) link = of_each[all.rank.at(name)].links.at(name);
  for (auto& [name, link] : rates.links)
    if (layout.group(name)->is_pair()) link = rates.links.at(layout.mesh().name(recipe::kPp));
  return rates;
} catch (const std::exception& error) {
  return fail("the ranks cannot agree on rates: {}", graph::error_text(error));
}

}  // namespace heddle::calibrate
