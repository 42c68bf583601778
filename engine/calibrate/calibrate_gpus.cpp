#include "engine/calibrate/calibrate_gpus.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/clock.h"
#include "base/durable_file.h"
#include "base/host_name.h"
#include "base/json_text.h"
#include "base/read_json.h"
#include "engine/calibrate/measure_gpu.h"
#include "engine/graph/error_text.h"
#include "engine/recipe/layout.h"
#include "engine/runtime/agreement.h"
#include "engine/runtime/numa.h"
#include "engine/runtime/process_groups.h"

namespace heddle::calibrate {
namespace {

using cost::GpuCalibration;

// All ranks' measurements from each one's, which come in the same order: medians; the spread is a
// rank's own or from rank to rank, whichever is more.
GpuCalibration of_all(const std::vector<GpuCalibration>& ranks) {
  GpuCalibration all = ranks.front();
  const auto median = [&](const auto& of) {
    std::vector<double> values;
    for (const GpuCalibration& each : ranks) values.push_back(of(each));
    return timing_of(std::move(values));
  };
  for (size_t i = 0; i < all.measurements.size(); ++i) {
    const Timing seconds =
        median([&](const GpuCalibration& each) { return each.measurements[i].seconds; });
    const Timing spread =
        median([&](const GpuCalibration& each) { return 1 + each.measurements[i].spread; });
    all.measurements[i].seconds = seconds.seconds;
    all.measurements[i].spread = std::max(seconds.spread, spread.seconds - 1);
  }
  for (size_t i = 0; i < all.contention.size(); ++i)
    for (double cost::GpuContention::*each :
         {&cost::GpuContention::gather_alone, &cost::GpuContention::gather_beside,
          &cost::GpuContention::products_alone, &cost::GpuContention::products_beside})
      all.contention[i].*each =
          median([&](const GpuCalibration& rank) { return rank.contention[i].*each; }).seconds;
  for (const GpuCalibration& each : ranks) {
    all.context_bytes = std::max(all.context_bytes, each.context_bytes);
    all.buffers_bytes = std::max(all.buffers_bytes, each.buffers_bytes);
  }
  return all;
}

}  // namespace

Result<> calibrate_gpus(const runs::RankContext& context, recipe::Recipe recipe) try {
  at::NoGradGuard no_grad;
  const int32_t ranks = context.launch.world_size;
  // Pairs and halves are groups as well, where they are not all.
  recipe.parallelism = {};
  recipe.parallelism.tp = ranks > 2 && ranks % 2 == 0 ? 2 : 1;
  recipe.parallelism.dp_shard = ranks / recipe.parallelism.tp;
  const auto device = runtime::open_device("cuda", context.local_rank, false);
  if (!device) return fail(device);
  runtime::bind_to_device(runtime::pci_address(*device));
  const auto run = runtime::make_device_run(*device);
  GpuCalibration mine{.host = host_name(),
                      .time = unix_now(),
                      .engine = HEDDLE_VERSION,
                      .gpu = run->name(),
                      .state = {},
                      .ranks = ranks,
                      .gpus = ranks,
                      .measurements = {},
                      .contention = {}};
  const runtime::DeviceProperties properties = runtime::device_properties(*device);
  mine.multiprocessors = properties.multiprocessors;
  mine.memory_bytes = properties.memory_bytes;
  const auto held = [&] {
    int64_t bytes = 0;
    for (const runtime::DeviceBlock& block : run->blocks()) bytes += block.bytes;
    return bytes;
  };
  const int64_t alone = runtime::free_bytes(*device) + held();
  mine.context_bytes = mine.memory_bytes - alone;

  const recipe::Layout layout(recipe);
  if (const auto met =
          runtime::init_process_groups(context, layout, *device, recipe.transport, recipe.nccl);
      !met)
    return met;
  GpuBench bench(*device, *run);
  auto state = measure_gpu(bench);
  if (!state) return fail(state);
  mine.state = std::move(*state);
  std::set<int64_t> sizes;
  for (const recipe::Group& group : layout.groups()) {
    if (group.is_pair() || group.ranks < 2 || !sizes.insert(group.ranks).second) continue;
    c10d::Backend& of = runtime::process_group(group.name);
    measure_collectives(bench, of);
    mine.contention.push_back(measure_contention(bench, of));
  }
  // All kinds of collectives have been called: NCCL has the buffers that it needs.
  mine.buffers_bytes = std::max<int64_t>(0, alone - runtime::free_bytes(*device) - held());
  mine.measurements = std::move(bench.measured);
  std::vector<GpuCalibration> each;
  for (const std::string& text : runtime::gather_texts(json_text(cost::to_json(mine)), ranks))
    each.push_back(cost::gpu_calibration_from_json(read_json(text).value()));
  if (context.rank != 0) return {};
  return write_atomically(context.run_dir + "/results.json",
                          json_text(cost::to_json(of_all(each))) + "\n");
} catch (const std::exception& error) {
  return fail("rank {} cannot measure its GPU: {}", context.rank, graph::error_text(error));
}

}  // namespace heddle::calibrate
