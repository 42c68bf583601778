#include "engine/train/rank.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/excerpt.h"
#include "base/host_name.h"
#include "base/json_text.h"
#include "base/read_json.h"
#include "base/say.h"
#include "engine/calibrate/agree_on_rates.h"
#include "engine/calibrate/calibrate_rank.h"
#include "engine/graph/error_text.h"
#include "engine/inputs/inputs.h"
#include "engine/predict/plan_hash.h"
#include "engine/predict/run_plan.h"
#include "engine/runs/checkpoint_folder.h"
#include "engine/runs/last_word.h"
#include "engine/runtime/agreement.h"
#include "engine/runtime/device.h"
#include "engine/runtime/device_properties.h"
#include "engine/runtime/numa.h"
#include "engine/runtime/process_groups.h"
#include "engine/step/step.h"
#include "engine/telemetry/log_writer.h"
#include "engine/train/evaluate.h"
#include "engine/train/patience.h"
#include "engine/train/resume.h"
#include "engine/train/runner.h"
#include "engine/train/saver.h"
#include "engine/train/trainer.h"

namespace heddle::train {
namespace {

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

// `numa`: where the rank runs, next to its GPU; empty on a CPU.
telemetry::Start start_record(const runs::RankContext& context, const Runner& runner,
                              c10::Device device, const std::string& numa) {
  telemetry::Start start{
      .time = unix_now(),
      .rank = context.rank,
      .world_size = context.launch.world_size,
      .mode = context.launch.mode,
      .environment = {{"host", host_name()},
                      {"cpu", cpu_name()},
                      {"threads", std::to_string(at::get_num_threads())},
                      {"libtorch", TORCH_VERSION},
                      {"engine", HEDDLE_VERSION},
                      {"device", device.is_cuda() ? "cuda" : "cpu"},
                      {"transport", runtime::transport_name(runtime::world_group())},
                      {"plan", runner.facts.plan_hash}},
      .facts = {{"nodes", static_cast<double>(runner.facts.nodes)},
                {"collectives", static_cast<double>(runner.facts.collectives)},
                {"capture_seconds", runner.facts.capture_seconds},
                {"plan_seconds", runner.facts.plan_seconds},
                {"arena_bytes", static_cast<double>(runner.facts.arena_bytes)},
                {"state_bytes", static_cast<double>(runner.facts.state_bytes)},
                {"predicted_peak_bytes", static_cast<double>(runner.facts.predicted_peak_bytes)}}};
  if (!numa.empty()) start.environment["numa"] = numa;
  if (device.is_cuda())
    start.facts["device_memory_bytes"] =
        static_cast<double>(runtime::device_properties(device).memory_bytes);
  if (context.launch.restarts > 0) {
    start.facts["restarts"] = context.launch.restarts;
    start.environment["restarted_after"] = context.launch.restart_cause;
  }
  return start;
}

// The hash of all stages' plans; empty without a plan. Every rank calls this.
std::string hash_of_all(const std::string& plan, const recipe::Recipe& recipe) {
  if (plan.empty()) return {};
  const int64_t ranks = recipe.hardware.ranks, pp = recipe.parallelism.pp;
  const std::vector<std::string> all = runtime::gather_texts(predict::plan_hash(plan), ranks);
  std::vector<std::string> of_stages;
  for (int64_t stage = 0; stage < pp; ++stage)
    of_stages.push_back(all[static_cast<size_t>(stage * (ranks / pp))]);
  return predict::joined_hash(of_stages);
}

// Rank 0's report before the first step.
std::vector<telemetry::Log> opening_lines(const RunnerFacts& facts, const Beginning& beginning,
                                          int64_t logged) {
  std::vector<telemetry::Log> lines;
  for (const std::string& warning : beginning.warnings)
    lines.push_back({unix_now(), telemetry::Level::warning, warning});
  if (!beginning.note.empty())
    lines.push_back({unix_now(), telemetry::Level::info, beginning.note});
  if (logged > beginning.step)
    lines.push_back({unix_now(), telemetry::Level::info,
                     fmt::format("repeats steps {} to {}; the log keeps their first numbers",
                                 beginning.step + 1, logged)});
  if (facts.nodes > 0)
    lines.push_back(
        {unix_now(), telemetry::Level::info,
         fmt::format(
             "captured {} nodes with {} collectives a step in {:.0f} ms, planned in {:.0f} ms",
             facts.nodes, facts.collectives, facts.capture_seconds * 1e3,
             facts.plan_seconds * 1e3)});
  if (!facts.choice.empty())
    lines.push_back({unix_now(), telemetry::Level::info, "plan: " + facts.choice});
  for (const std::string& warning : facts.warnings)
    lines.push_back({unix_now(), telemetry::Level::warning, warning});
  return lines;
}

// The prediction of the step; a graph file's is its own. Where there is none, or another step runs,
// it says so, and training goes on.
Result<> log_plan(const recipe::Recipe& recipe, const runs::RankContext& context,
                  const cost::Rates& rates, RunnerFacts& facts, telemetry::LogWriter& log) {
  if (facts.plan.empty() || !context.launch.graph_file.empty()) return {};
  const auto warn = [&](const std::string& text) {
    return log.append(telemetry::Log{unix_now(), telemetry::Level::warning, text});
  };
  auto predicted = predict::plan_of_run(recipe, rates, facts.plan_hash);
  if (!predicted) return warn("nothing is predicted: " + predicted.error().message);
  if (predicted->plan_hash != facts.plan_hash)
    if (const auto warned =
            warn(fmt::format("the plan that runs ({}) is not the predicted one ({})",
                             facts.plan_hash, predicted->plan_hash));
        !warned)
      return warned;
  facts.expected = {predicted->step_seconds, predicted->exposed_seconds, predicted->bubble_seconds,
                    predicted->peak_bytes, predicted->plan_hash};
  telemetry::Plan plan{unix_now(), predicted->plan_hash, json_text(plan::to_json(*predicted))};
  if (!read_json(plan.document, telemetry::kPlanDocument)) {
    if (const auto warned = warn("the predicted timelines are too long to be kept"); !warned)
      return warned;
    predicted->timelines.clear();
    plan.document = json_text(plan::to_json(*predicted));
  }
  return log.append(plan);
}

// Products in 8 bits become bf16 where a GPU has no units for them, as plans for it have it; says
// so. Ranks whose GPUs differ in that have other plans, and learn of them when they compare.
struct AdaptedRecipe {
  recipe::Recipe recipe;
  std::string warning;
};
AdaptedRecipe adapt_to(c10::Device device, recipe::Recipe recipe) {
  recipe::Float8& float8 = recipe.precision.float8;
  if (float8 == recipe::Float8::none || !device.is_cuda() ||
      runtime::device_properties(device).eight_bits)
    return {std::move(recipe), ""};
  float8 = recipe::Float8::none;
  return {std::move(recipe),
          "precision.float8: this GPU has no units for 8 bits: products are bf16"};
}

// A rank's work, with the exit code that each error has.
struct Failure {
  int exit_code = 1;
  std::string message;
};

tl::expected<Outcome, Failure> work(const runs::RankContext& context, telemetry::LogWriter& log) {
  auto bad_input = [](const std::string& message) { return tl::unexpected(Failure{2, message}); };
  auto failed = [](const std::string& message) { return tl::unexpected(Failure{1, message}); };

  if (context.launch.mode == "calibrate") {
    if (const auto done = calibrate::calibrate(context); !done) return failed(done.error().message);
    return Outcome{};
  }
  auto inputs =
      inputs::read_inputs(context.run_dir + "/recipe.toml", context.launch.world_size, false);
  if (!inputs) return bad_input(inputs.error().message);
  const recipe::Recipe& given = inputs->recipe;
  const auto device =
      runtime::open_device(given.hardware.device, context.local_rank,
                           given.transport.gpus == "host", given.training.deterministic);
  if (!device) return bad_input(device.error().message);
  const auto [recipe, without_units] = adapt_to(*device, std::move(inputs->recipe));
  std::string numa;
  if (device->is_cuda()) numa = runtime::bind_to_device(runtime::pci_address(*device));
  const recipe::Layout layout(recipe);
  if (const auto met =
          runtime::init_process_groups(context, layout, *device, recipe.transport, recipe.nccl,
                                       in_milliseconds(recipe.timeouts.start));
      !met)
    return failed(met.error().message);
  const auto rates = calibrate::agree_on_rates(recipe, layout, context.launch, *device);
  if (!rates) return failed(rates.error().message);
  auto runner = make_runner(recipe, context, *rates, *device);
  if (!runner) return bad_input(runner.error().message);
  std::optional<CheckpointPlace> place;
  const std::string folder = runs::checkpoint_folder(recipe.checkpoint, context.run_dir);
  if (!folder.empty() && context.launch.eval_to.empty()) {
    auto met = meet_at(folder, context);
    if (!met) return bad_input(met.error().message);
    place = std::move(*met);
  }
  const auto beginning = begin(recipe, context, place, (*runner)->states);
  if (!beginning) return bad_input(beginning.error().message);
  inputs->loader.go_on(beginning->step, beginning->samples, beginning->since);
  std::optional<Saver> saver;
  if (place) {
    saver.emplace(recipe, context, (*runner)->states, *place, *device, log);
    // A GPU's process has it in the host's memory.
    if ((*runner)->facts.predicted_peak_bytes > 0 && device->is_cpu())
      (*runner)->facts.predicted_peak_bytes += saver->staging_bytes();
  }
  if (const auto agreed =
          runtime::agree_on_plan((*runner)->facts.plan, layout.mesh(), context.rank);
      !agreed) {
    runs::give_lasting(context.word_fd);
    return failed(agreed.error().message);
  }
  (*runner)->facts.plan_hash = hash_of_all((*runner)->facts.plan, recipe);
  // A run's measurement is also the largest of any rank.
  int64_t& predicted = (*runner)->facts.predicted_peak_bytes;
  predicted = runtime::most_of_ranks({predicted}, context.launch.world_size, *device).front();
  if (const auto logged = log.append(start_record(context, **runner, *device, numa)); !logged)
    return failed(logged.error().message);
  std::vector<std::string> warnings = {runtime::transport_warning(), without_units};
  if (context.rank == 0) {
    std::ranges::copy(inputs->warnings, std::back_inserter(warnings));
    std::ranges::copy(inputs->loader.warnings(), std::back_inserter(warnings));
    for (const std::string& left_out : inputs->loader.left_out())
      if (const auto logged =
              log.append(telemetry::Log{unix_now(), telemetry::Level::info, left_out});
          !logged)
        return failed(logged.error().message);
  }
  for (const std::string& warning : warnings) {
    if (warning.empty()) continue;
    if (const auto logged =
            log.append(telemetry::Log{unix_now(), telemetry::Level::warning, warning});
        !logged)
      return failed(logged.error().message);
  }

  if (!context.launch.eval_to.empty()) {
    if (const auto done = evaluate(recipe, context, **runner, inputs->loader); !done)
      return failed(done.error().message);
    return Outcome{};
  }
  if (context.rank == 0) {
    if (const auto logged = log_plan(recipe, context, *rates, (*runner)->facts, log); !logged)
      return failed(logged.error().message);
    for (const telemetry::Log& line : opening_lines((*runner)->facts, *beginning, log.last_step()))
      if (const auto logged = log.append(line); !logged) return failed(logged.error().message);
  }
  std::optional<Validator> validator;
  if (inputs->held_out)
    validator.emplace(recipe, layout, std::move(*inputs->held_out), context.rank, *device);
  const auto outcome =
      train(recipe, layout, context, **runner, inputs->loader, *beginning,
            saver ? &*saver : nullptr, validator ? &*validator : nullptr, log, *device);
  if (!outcome) return failed(outcome.error().message);
  return *outcome;
}

}  // namespace

int run_rank(const runs::RankContext& context) {
  using State = runs::Word::State;
  // On stderr for people, and where no full disk can take it from the supervisor.
  const auto report = [&](const std::string& cause) {
    say(stderr, "{}\n", cause);
    runs::give_cause(context.word_fd, cause);
  };
  auto log = telemetry::LogWriter::open(
      fmt::format("{}/rank-{}.{}.hlog", context.run_dir, context.rank, context.launch.epoch));
  if (!log) {
    report(log.error().message);
    return 1;
  }
  log->outlive_full_disk();
  tl::expected<Outcome, Failure> outcome;
  try {
    outcome = work(context, *log);
  } catch (const std::exception& error) {
    outcome = tl::unexpected(Failure{1, graph::error_text(error)});
  }
  if (!outcome) {
    report(outcome.error().message);
    // The failure is known already: a log that cannot be written changes nothing.
    (void)log->append(telemetry::End{unix_now(), "failed", excerpt(outcome.error().message), {}});
    (void)log->sync();
    return outcome.error().exit_code;
  }
  runtime::close_process_groups();
  if (!outcome->unsaved.empty()) {
    runs::give_lasting(context.word_fd);  // what it has trained is trained
    report(outcome->unsaved);
    return 1;
  }
  runs::give_word(context.word_fd,
                  {outcome->stopped ? State::stopped : State::done, outcome->step});
  return outcome->stopped ? 130 : 0;
}

}  // namespace heddle::train
