#include "engine/train/rates.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/host_name.h"
#include "base/json_text.h"
#include "base/number_text.h"
#include "base/read_json.h"
#include "engine/graph/error_text.h"
#include "engine/launch/choose_device.h"
#include "engine/launch/process.h"
#include "engine/launch/run_files.h"
#include "engine/launch/spawn.h"
#include "engine/recipe/fault_lines.h"
#include "engine/recipe/parse.h"
#include "engine/runtime/device.h"
#include "engine/runtime/device_properties.h"
#include "engine/runtime/process_groups.h"
#include "engine/train/agreement.h"
#include "engine/train/calibrate_gpus.h"
#include "engine/train/gpu_rates.h"
#include "engine/train/measure.h"
#include "engine/train/refined.h"

namespace heddle::train {
namespace {

// The layout's groups. All along a pipeline travels as the group of its ranks does.
template <typename KindOf>
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
                        .cores = launch::usable_cores(),
                        .time = launch::now(),
                        .engine = HEDDLE_VERSION};
  cost::Rates rates = cost::rates_of(kept.value_or(std::vector<cost::Calibration>{}), host, groups);
  rates.threads = threads;
  rates.refinement = refinement_at(place_here("cpu", local_ranks, threads));
  if (!kept) rates.remarks.push_back(kept.error().message);
  return rates;
}

// The first GPU's name, asked for once; empty: there is none, or it cannot be used.
const std::string& gpu_here() {
  static const std::string name = launch::gpus_here(launch::engine_program()).name;
  return name;
}

// What ranks know of the run, each by itself or all of them.
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
  for (const auto& [name, kind] : groups_of(layout, as_met))
    mine["groups"][name] = {kind.transport, kind.ranks, kind.remote_ranks};
  std::vector<View> views;
  for (const std::string& text : gather_texts(json_text(mine), ranks)) {
    const nlohmann::json read = read_json(text).value();
    View view;
    view.threads = read.at("threads");
    for (const auto& [name, kind] : read.at("groups").items())
      view.groups[name] = {kind.at(0), kind.at(1), kind.at(2)};
    views.push_back(std::move(view));
  }
  return views;
}

// Some ranks have the others of a group beside them, where other ranks have them on other hosts:
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
  for (const std::string& text : gather_texts(json_text(cost::to_json(mine)), ranks))
    all.push_back(cost::rates_from_json(read_json(text).value()));
  return all;
}

// What a step may take of a GPU: what is free once the context, cuBLAS's workspaces and NCCL's
// connections are there, as they are when the ranks have met, but for what later calls still make
// (code of kernels, NCCL's buffers for other collectives). That is a guess.
int64_t room_of(c10::Device device) {
  constexpr int64_t kLater = int64_t{1} << 30;
  const int64_t free = runtime::free_bytes(device);
  return free == 0 ? 0 : std::max<int64_t>(free - kLater, 1);
}

bool between_hosts(const std::string& transport) {
  return transport == "tcp" || transport == "memory + tcp";
}

}  // namespace

cost::Rates rates_here(const recipe::Recipe& recipe) {
  const bool gpu = recipe.hardware.device == "cuda";
  const auto local_ranks = static_cast<int>(recipe.hardware.ranks);
  const recipe::Layout layout(recipe);
  const auto groups = groups_of(layout, [=](const std::string&, int64_t ranks) {
    return cost::GroupKind{.transport = gpu ? "nccl" : "memory", .ranks = ranks};
  });
  if (gpu) return rates_of_gpus(recipe, layout, gpu_here(), local_ranks, groups);
  return kept_rates(local_ranks, launch::threads_of_rank(local_ranks), groups);
}

Result<cost::Rates> agree_on_rates(const recipe::Recipe& recipe, const recipe::Layout& layout,
                                   const launch::Launch& launch, c10::Device device) try {
  at::NoGradGuard no_grad;
  const View all = agreed(views_of_ranks(layout, launch.world_size));
  cost::Rates rates = device.is_cuda()
                          ? rates_of_gpus(recipe, layout, runtime::make_device_run(device)->name(),
                                          launch.local_ranks, all.groups)
                          : kept_rates(launch.local_ranks, all.threads, all.groups);
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

Result<> calibrate(const launch::RankContext& context) {
  if (const std::string file = context.run_dir + "/recipe.toml"; std::filesystem::exists(file)) {
    const recipe::Parsed parsed = recipe::parse_file(file);
    if (!parsed.ok()) return fail("{}", recipe::lines_of(parsed.faults));
    return calibrate_gpus(context, parsed.recipe);
  }
  const int32_t ranks = context.launch.world_size;
  // Half of the ranks are a group as well, where that is more than one.
  recipe::Recipe all;
  all.parallelism.dp_replicate = ranks > 2 && ranks % 2 == 0 ? 2 : 1;
  all.parallelism.dp_shard = ranks / all.parallelism.dp_replicate;
  const recipe::Layout layout(all);
  if (const auto met = runtime::init_process_groups(context, layout, at::kCPU); !met) return met;
  cost::Calibration calibration{.host = host_name(),
                                .ranks = ranks,
                                .threads = at::get_num_threads(),
                                .cores = launch::usable_cores(),
                                .time = launch::now(),
                                .engine = HEDDLE_VERSION,
                                .speed = {},
                                .process_bytes = 0,
                                .links = {},
                                .operators = {}};
  const auto process = measure_process();
  if (!process) return fail(process);
  calibration.process_bytes = *process;
  // What is beyond that, in time for three numbers of ranks within five minutes.
  const auto begin = Clock::now();
  constexpr std::chrono::seconds kLinks{30}, kAll{55};
  // Ranks that share cores take turns, and so take longer.
  const Sizes sizes = ranks > calibration.cores ? some_sizes() : many_sizes();
  const auto measure = [&](const std::string& group) {
    cost::Link link = measure_link(runtime::process_group(group), runtime::transport_name(group),
                                   sizes, begin + kLinks);
    const auto& done = link.all_gather.alone;
    if (done.size() < sizes.alone.size())
      calibration.left_out.push_back(fmt::format(
          "collectives of {} ranks{}", link.ranks,
          done.empty() ? "" : " beyond " + bytes_text(static_cast<double>(done.back().bytes))));
    if (!done.empty()) calibration.links.push_back(std::move(link));
  };
  if (ranks > 1) measure(runtime::world_group());
  if (all.parallelism.dp_replicate > 1) measure(layout.mesh().name(recipe::kShard));
  auto operators = measure_operators(begin + kAll);
  if (!operators) return fail(operators);
  calibration.operators = std::move(operators->rates);
  std::ranges::move(operators->left_out, std::back_inserter(calibration.left_out));
  if (context.rank != 0) return {};
  return launch::write_atomically(context.run_dir + "/results.json",
                                  json_text(cost::to_json(calibration)) + "\n");
}

}  // namespace heddle::train
