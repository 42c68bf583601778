#include "engine/calibrate/calibrate_rank.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/clock.h"
#include "base/cores.h"
#include "base/durable_file.h"
#include "base/host_name.h"
#include "base/json_text.h"
#include "base/number_text.h"
#include "engine/calibrate/calibrate_gpus.h"
#include "engine/calibrate/measure.h"
#include "engine/recipe/fault_lines.h"
#include "engine/recipe/layout.h"
#include "engine/recipe/parse.h"
#include "engine/runtime/process_groups.h"

namespace heddle::calibrate {

Result<> calibrate(const runs::RankContext& context) {
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
                                .cores = usable_cores(),
                                .time = unix_now(),
                                .engine = HEDDLE_VERSION,
                                .speed = {},
                                .process_bytes = 0,
                                .links = {},
                                .operators = {}};
  const auto process = measure_process();
  if (!process) return fail(process);
  calibration.process_bytes = *process;
  // Further sizes, as time allows for three numbers of ranks within five minutes.
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
  return write_atomically(context.run_dir + "/results.json",
                          json_text(cost::to_json(calibration)) + "\n");
}

}  // namespace heddle::calibrate
