#include "engine/train/results.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/durable_file.h"
#include "base/json_text.h"
#include "engine/cost/checks.h"
#include "engine/predict/refined.h"
#include "engine/runtime/agreement.h"

namespace heddle::train {

namespace {

std::string file_of(const runs::RankContext& context) { return context.run_dir + "/results.json"; }

constexpr const char* kStepSeconds = "step_seconds";

}  // namespace

std::span<const double> Results::timed() const { return steps.counted(kStepSeconds); }

double Results::median_step_seconds() const { return steps.average(kStepSeconds).value_or(0); }

double Results::fastest_step_seconds() const {
  const std::span<const double> all = timed();
  return all.empty() ? 0.0 : *std::ranges::min_element(all);
}

double Results::tokens_per_second_per_rank() const {
  const double seconds = median_step_seconds();
  return seconds > 0 ? static_cast<double>(tokens_per_step) / seconds : 0.0;
}

std::optional<double> Results::mfu(double tokens_per_second) const {
  if (!peak_flops) return std::nullopt;
  return tokens_per_second * flops_per_token / *peak_flops;
}

std::map<std::string, double> averages_of_ranks(const telemetry::StepAverages& mine, int64_t ranks,
                                                c10::Device device) {
  std::map<std::string, double> averages;
  for (const telemetry::Metric& metric : telemetry::metrics()) {
    const std::string name(metric.name);
    const std::optional<double> average = mine.average(name);
    if (!average) continue;
    using enum telemetry::Fold;
    averages[name] = metric.over_ranks == mean   ? runtime::mean_of_ranks(*average, ranks, device)
                     : metric.over_ranks == most ? runtime::max_of_ranks(*average, ranks, device)
                                                 : *average;
  }
  return averages;
}

Result<std::optional<NewFile>> reserve_results(const runs::RankContext& context, int64_t steps) {
  constexpr int64_t kFigures = 8192, kLoss = 26;  // a number's most digits, and a comma
  // More steps than this mean "until it is stopped".
  constexpr int64_t kMaxSteps = 1'000'000;
  if (context.rank != 0) return std::optional<NewFile>();
  return reserve(file_of(context), kFigures + kLoss * std::min(steps, kMaxSteps))
      .map([](NewFile room) { return std::optional(std::move(room)); });
}

namespace {

nlohmann::ordered_json or_null(const std::optional<double>& number) {
  return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json average_or_null(const Results& results, const char* name) {
  const auto found = results.averages.find(name);
  return or_null(found == results.averages.end() ? std::nullopt : std::optional(found->second));
}

// For the next prediction here to tell how sure it is. Where it cannot be kept, nothing is lost
// but that.
void keep_check(const runs::RankContext& context, const Results& results, const Runner& runner,
                c10::Device device) {
  constexpr size_t kEnough = 5;
  const std::optional<Expected>& expected = runner.facts.expected;
  if (!expected || results.timed().size() < kEnough) return;
  const cost::RunPlace place = predict::place_here(
      device.is_cuda() ? "cuda" : "cpu", context.launch.local_ranks, runner.facts.rates.threads);
  if (place.since > context.spawned_at) return;  // predicted by rates that hold no more
  (void)cost::keep_check(cost::checks_file(),
                         {.host = place.host,
                          .device = place.device,
                          .ranks = context.launch.world_size,
                          .time = unix_now(),
                          .predicted_seconds = expected->step_seconds,
                          .measured_seconds = results.median_step_seconds(),
                          .predicted_bytes = static_cast<double>(expected->peak_bytes),
                          .measured_bytes = static_cast<double>(results.peak_of_ranks),
                          .build = place.build,
                          .local_ranks = place.local_ranks,
                          .threads = place.threads,
                          .work = results.work,
                          .others = results.others});
}

}  // namespace

Result<> write_results(std::optional<NewFile> room, const runs::RankContext& context,
                       const Results& results, const Runner& runner, c10::Device device) {
  const runtime::Executor* executor = runner.executor();
  std::vector<int64_t> beyond;
  if (executor)
    beyond = runtime::most_of_ranks({executor->outside_bytes(), executor->misplaced_bytes()},
                                    context.launch.world_size, device);
  if (context.rank != 0) return {};
  const std::optional<double> mfu = results.mfu(results.tokens_per_second_per_rank());
  nlohmann::ordered_json json = {
      {"mode", results.mode},
      {"first_step", results.first_step},
      {"losses", results.losses},
      {"tokens_per_second_per_rank", results.tokens_per_second_per_rank()},
      {"mfu", or_null(mfu)},
      {"step_seconds", results.median_step_seconds()},
      {"fastest_step_seconds", results.fastest_step_seconds()},
      {"peak_bytes", results.peak_of_ranks},
      {"predicted_peak_bytes", runner.facts.predicted_peak_bytes > 0
                                   ? nlohmann::ordered_json(runner.facts.predicted_peak_bytes)
                                   : nlohmann::ordered_json(nullptr)},
      {"arena_bytes", runner.facts.arena_bytes},
      {"state_bytes", runner.facts.state_bytes},
      {"first_step_seconds", results.first_step_seconds},
      {"capture_seconds", runner.facts.capture_seconds},
      {"plan_seconds", runner.facts.plan_seconds},
      {"exposed_seconds", average_or_null(results, "exposed_seconds")},
      {"bubble_seconds", average_or_null(results, "bubble_seconds")},
      {"plan_hash", runner.facts.plan_hash},
      {"nodes", runner.facts.nodes},
      {"collectives", runner.facts.collectives},
      {"collective_bytes", runner.facts.collective_bytes},
      {"model_forward_calls", runner.model_forward_calls()}};
  for (const auto& [name, average] : results.averages)
    if (!json.contains(name)) json[name] = average;
  if (device.is_cuda()) json["peak_reserved_bytes"] = results.peak_reserved_of_ranks;
  if (const auto& expected = runner.facts.expected)
    json["expected"] = {{"step_seconds", expected->step_seconds},
                        {"exposed_seconds", expected->exposed_seconds},
                        {"bubble_seconds", expected->bubble_seconds},
                        {"peak_bytes", expected->peak_bytes},
                        {"plan_hash", expected->plan_hash}};
  if (executor) {
    json["outside_bytes"] = beyond[0];
    json["misplaced_bytes"] = beyond[1];
    if (executor->device().records()) json["replayed"] = executor->replays();
    json["collectives_run"] = executor->collectives();
    json["collective_bytes_run"] = executor->collective_bytes();
    for (const runtime::DeviceBlock& block : executor->device().blocks())
      json["device_blocks"].push_back(
          {{"holder", block.holder}, {"bytes", block.bytes}, {"used", block.used}});
  }
  keep_check(context, results, runner, device);
  return write_atomically(std::move(*room), file_of(context), json_text(json) + "\n");
}

}  // namespace heddle::train
