#include "engine/launch/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/number_text.h"
#include "engine/checkpoint/load_recipe.h"
#include "engine/data/text_loader.h"
#include "engine/holdings/needs.h"

namespace heddle::launch {
namespace {

using probe::Check;

// Beyond this nothing but overhead is left, and the machine no longer answers.
constexpr int64_t kRanksPerCore = 32;
// Above this share of what is free the estimate's error may use up the rest.
constexpr double kTight = 0.85;

// Host memory that CUDA and its libraries hold for each process, and NCCL's share of /dev/shm for
// each rank.
constexpr int64_t kGpuProcessBytes = int64_t{1} << 30;
constexpr int64_t kNcclBytes = int64_t{64} << 20;

constexpr const char* kAnyway = "hardware.overcommit = true starts them all the same";

std::string text_of(int64_t bytes) { return bytes_text(static_cast<double>(bytes)); }
std::string count_of(int64_t count) { return count_text(static_cast<double>(count)); }

std::string ranks_text(int64_t ranks) {
  return fmt::format("{} rank{}", count_of(ranks), ranks == 1 ? "" : "s");
}

probe::Status refused(bool overcommit) {
  return overcommit ? probe::Status::warn : probe::Status::fail;
}

/// How often a rank has its turn.
std::string turns(int64_t ranks, int64_t cores) {
  return fmt::format("{:.3g}", static_cast<double>(ranks) / static_cast<double>(cores));
}

/// The number that every refusal names: as many ranks as no check refuses; empty: not even one.
std::string valid_ranks(const Demand& demand, const probe::Report& host) {
  int64_t most = demand.ranks;
  if (host.cores > 0) most = std::min(most, kRanksPerCore * host.cores);
  if (host.available_bytes > 0 && demand.rank_bytes > 0)
    most = std::min(
        most, std::max<int64_t>(0, host.available_bytes - demand.shared_bytes) / demand.rank_bytes);
  return most > 0 ? fmt::format("at most {} of this size here", ranks_text(most)) : "";
}

Check cores(const Demand& demand, const probe::Report& host, bool overcommit) {
  const int64_t ranks = demand.ranks;
  if (host.cores <= 0) return {"cores", probe::Status::unknown, "not known", ""};
  std::string value = fmt::format("{} on {} cores", ranks_text(ranks), count_of(host.cores));
  if (ranks <= host.cores) return {"cores", probe::Status::pass, std::move(value), ""};
  const std::string cost = fmt::format(
      "they take turns, so that a step takes about {} times as long as with a core for each rank",
      turns(ranks, host.cores));
  if (ranks <= kRanksPerCore * host.cores || overcommit)
    return {"cores", probe::Status::warn, std::move(value),
            cost + "; fewer ranks with a larger training.local_batch do the same work sooner"};
  const std::string valid = valid_ranks(demand, host);
  return {"cores", probe::Status::fail, std::move(value),
          fmt::format("{}{}; {}", cost, valid.empty() ? "" : "; valid: " + valid, kAnyway)};
}

Check memory(const Demand& demand, const probe::Report& host, bool overcommit) {
  const int64_t needed = demand.host_bytes(), free = host.available_bytes;
  if (free <= 0) return {"memory", probe::Status::unknown, "not known", ""};
  std::string value =
      fmt::format("{} need {} ({} each, {} shared), {} of {} are free", ranks_text(demand.ranks),
                  text_of(needed), text_of(demand.rank_bytes), text_of(demand.shared_bytes),
                  text_of(free), text_of(host.memory_bytes));
  if (needed <= static_cast<int64_t>(kTight * static_cast<double>(free)))
    return {"memory", probe::Status::pass, std::move(value), ""};
  if (needed <= free)
    return {"memory", probe::Status::warn, std::move(value),
            "close to all of it, and the estimate may be 20 % off: end other programs, or take a "
            "smaller training.local_batch"};
  const std::string valid = valid_ranks(demand, host);
  return {"memory", refused(overcommit), std::move(value),
          fmt::format("valid: {}{}a smaller model or training.local_batch, recompute.mode = "
                      "\"full\"; {}",
                      valid, valid.empty() ? "" : ", ", kAnyway)};
}

Check gpus(const Demand& demand, const probe::Report& host, bool overcommit) {
  const auto count = static_cast<int64_t>(host.gpus.size());
  std::string value = fmt::format("{} on {} GPU{}", ranks_text(demand.ranks), count_of(count),
                                  count == 1 ? "" : "s");
  if (count == 0)
    return {"GPUs", probe::Status::fail, std::move(value),
            "this host shows none; valid: hardware.device = \"cpu\", or a host with GPUs"};
  if (demand.ranks > count && !demand.shares_gpus)
    return {"GPUs", probe::Status::fail, std::move(value),
            fmt::format("each rank has one to itself; valid: at most {} ranks here, or "
                        "transport.gpus = \"host\", with which ranks share them; where a scheduler "
                        "gives each task one GPU, all GPUs of the host for one task",
                        count_of(count))};
  const int64_t on_one = (demand.ranks + count - 1) / count;
  // Memory of a GPU that others hold is not available.
  const auto room = [](const probe::Gpu& gpu) {
    return gpu.free_bytes < 0 ? gpu.memory_bytes : gpu.free_bytes;
  };
  const auto least = std::ranges::min_element(host.gpus, {}, room);
  if (least->memory_bytes == 0)
    return {"GPUs", probe::Status::unknown,
            fmt::format("{}, whose memory is not known; a rank needs {}", value,
                        text_of(demand.gpu_bytes)),
            ""};
  value +=
      fmt::format(" of {}{}; a rank needs {}", text_of(least->memory_bytes),
                  least->free_bytes < 0 ? "" : fmt::format(" ({} free)", text_of(room(*least))),
                  text_of(demand.gpu_bytes));
  if (on_one > 1) value += fmt::format(", {} share one", ranks_text(on_one));
  const auto needed = static_cast<double>(on_one * demand.gpu_bytes);
  const auto there = static_cast<double>(room(*least));
  if (needed <= kTight * there) return {"GPUs", probe::Status::pass, std::move(value), ""};
  const char* smaller =
      "valid: more ranks in parallelism.dp_shard, recompute.mode = \"full\", or a smaller "
      "training.local_batch";
  if (needed <= there)
    return {"GPUs", probe::Status::warn, std::move(value),
            fmt::format("close to all of it, and the estimate may be 20 % off; {}", smaller)};
  return {"GPUs", refused(overcommit), std::move(value), fmt::format("{}; {}", smaller, kAnyway)};
}

Check shared_memory(const Demand& demand, const probe::Report& host) {
  const int64_t needed = demand.shared_memory_bytes, free = host.shared_memory_bytes;
  std::string value =
      fmt::format("{} free of about {} that NCCL uses", text_of(free), text_of(needed));
  if (needed <= free) return {"/dev/shm", probe::Status::pass, std::move(value), ""};
  return {"/dev/shm", probe::Status::warn, std::move(value),
          "mount it larger (a container: --shm-size=1g)"};
}

}  // namespace

Demand demand_of(const recipe::Recipe& recipe, int64_t local_ranks) {
  const holdings::Needs needs = holdings::needs_of(recipe);
  Demand demand;
  demand.ranks = local_ranks;
  demand.on_gpus = recipe.hardware.device == "cuda";
  demand.shared_bytes = holdings::kSharedBytes;
  if (demand.on_gpus) {
    demand.shares_gpus = recipe.transport.gpus == "host";
    demand.gpu_bytes = needs.on_device();
    demand.rank_bytes = kGpuProcessBytes + needs.staging;
    if (local_ranks > 1 && !demand.shares_gpus)
      demand.shared_memory_bytes = local_ranks * kNcclBytes;
  } else {
    demand.rank_bytes = holdings::kOwnBytes + needs.on_device() + needs.staging;
  }
  // Replicas write nothing.
  demand.checkpoint_bytes = local_ranks * needs.staging / recipe.parallelism.dp_replicate;
  return demand;
}

std::vector<Check> judge(const Demand& demand, const probe::Report& host, bool overcommit) {
  std::vector<Check> checks;
  if (demand.on_gpus) checks.push_back(gpus(demand, host, overcommit));
  checks.push_back(cores(demand, host, overcommit));
  checks.push_back(memory(demand, host, overcommit));
  if (demand.shared_memory_bytes > 0) checks.push_back(shared_memory(demand, host));
  return checks;
}

std::vector<Check> admission_of(const std::string& run_dir, const runs::Launch& launch) {
  const std::string file = run_dir + "/recipe.toml";
  if (launch.mode == "calibrate" || !std::filesystem::exists(file)) return {};
  recipe::Parsed parsed = checkpoint::load_recipe_file(file, {}, launch.world_size);
  if (!parsed.ok()) return {};
  recipe::Recipe& recipe = parsed.recipe;
  const auto vocabulary = data::vocabulary(recipe.model, recipe.data);
  if (!vocabulary) return {};
  recipe.model.vocab_size = *vocabulary;
  Demand demand = demand_of(recipe, launch.local_ranks);
  const Result<probe::Report> host =
      demand.on_gpus ? probe::probe_this_machine() : probe::memory_of_this_machine();
  if (!host) return {{"memory", probe::Status::unknown, "not known", host.error().message}};
  // Where nvidia-smi is missing, or knows of none, a rank sees by itself whether it has its GPU.
  const bool knows_gpus = demand.on_gpus && !host->gpus.empty();
  if (!knows_gpus) demand.on_gpus = false, demand.shared_memory_bytes = 0;
  std::vector<Check> checks = judge(demand, *host, recipe.hardware.overcommit);
  for (const Check& check : host->checks)
    if (knows_gpus && check.of_gpus) checks.push_back(check);
  std::erase_if(checks, [](const Check& check) {
    return check.status == probe::Status::pass || check.status == probe::Status::unknown;
  });
  return checks;
}

std::string line_of(const Check& check) {
  return fmt::format("{}: {}{}{}", check.name, check.value, check.advice.empty() ? "" : "; ",
                     check.advice);
}

}  // namespace heddle::launch
