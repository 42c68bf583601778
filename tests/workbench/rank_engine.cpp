// rank_engine supervise|rank …: an engine that trains nothing. Its supervisor is the engine's own;
// its ranks write real telemetry logs at the pace that the recipe gives as
// training.seed, in milliseconds a step, with a loss that is higher by what optimizer.weight_decay
// is above its default, obey signals, and keep checkpoints of one
// number, so that following, stopping, killing, resuming and forking can be tested without
// LibTorch.
#include <signal.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/clock.h"
#include "base/durable_file.h"
#include "base/host_name.h"
#include "engine/checkpoint/reader.h"
#include "engine/checkpoint/step_folders.h"
#include "engine/launch/supervise.h"
#include "engine/links/command.h"
#include "engine/recipe/parse.h"
#include "engine/runs/checkpoint_folder.h"
#include "engine/runs/last_word.h"
#include "engine/runs/launch.h"
#include "engine/runs/rank_arguments.h"
#include "engine/telemetry/log_writer.h"

namespace {

using namespace heddle;

volatile sig_atomic_t stop_asked = 0;

int complain(const std::string& message, int exit_code) {
  fmt::print(stderr, "{}\n", message);
  return exit_code;
}

telemetry::Step step_record(int64_t step, int32_t rank, const recipe::Recipe& recipe) {
  const auto number = static_cast<double>(step);
  const double worse = recipe.optimizer.weight_decay - recipe::Optimizer{}.weight_decay;
  return {step,
          unix_now(),
          {{"loss", 8 / number + 0.001 * rank + worse}, {"tokens_per_second", 1000 + number}}};
}

/// Where a run goes on: after the newest checkpoint of its own, else of the run it goes on from.
Result<int64_t> begin(const std::string& folder, const runs::Launch& launch,
                      const recipe::Recipe& recipe) {
  std::vector<std::string> paths;
  for (const std::string& name : checkpoint::checkpoints_in(folder))
    paths.push_back(folder + '/' + name);
  if (paths.empty()) paths = launch.begin_with;
  if (paths.empty()) return 0;
  const auto opened = checkpoint::Checkpoint::open(paths.front());
  if (!opened) return fail(opened);
  if (const auto fits = opened->check_model(recipe.model); !fits) return fail(fits);
  return opened->manifest().step;
}

Result<> save(const std::string& folder, int64_t step, const recipe::Recipe& recipe) {
  const std::string path = folder + '/' + checkpoint::step_folder(step);
  const auto partial = checkpoint::begin_checkpoint(path);
  if (!partial) return fail(partial);
  const std::string number = std::to_string(step);
  if (auto written = write_atomically(*partial + "/rank-0.safetensors", number, kReadable);
      !written)
    return written;
  checkpoint::Manifest manifest{
      .engine = "rank_engine", .step = step, .recipe = recipe, .contents = {}};
  manifest.contents.files["rank-0.safetensors"] = {
      .host = host_name(), .bytes = static_cast<int64_t>(number.size()), .header_hash = ""};
  if (auto named = checkpoint::commit_checkpoint(*partial, path, manifest); !named) return named;
  return checkpoint::keep_newest(folder, recipe.checkpoint.keep);
}

int run_rank(const std::vector<std::string>& words) {
  signal(SIGTERM, [](int) { stop_asked = 1; });
  const auto context = runs::parse_rank_arguments(words);
  if (!context) return complain(context.error().message, 2);
  const recipe::Parsed parsed = recipe::parse_file(context->run_dir + "/recipe.toml");
  for (const recipe::Fault& fault : parsed.faults) complain(fault.str(), 2);
  if (!parsed.ok()) return 2;
  const recipe::Recipe& recipe = parsed.recipe;
  const std::chrono::milliseconds pause(recipe.training.seed);
  const std::string folder = runs::checkpoint_folder(recipe.checkpoint, context->run_dir);
  const auto begun = begin(folder, context->launch, recipe);
  if (!begun) return complain(begun.error().message, 2);

  auto log = telemetry::LogWriter::open(
      fmt::format("{}/rank-{}.{}.hlog", context->run_dir, context->rank, context->launch.epoch));
  if (!log) return complain(log.error().message, 1);
  const auto append = [&](const telemetry::Record& record) {
    if (const auto appended = log->append(record); !appended) {
      exit(complain(appended.error().message, 1));
    }
  };
  telemetry::Start start{unix_now(),
                         context->rank,
                         context->launch.world_size,
                         context->launch.mode,
                         {{"engine", "rank_engine"}},
                         {{"nodes", 0}}};
  if (context->launch.restarts > 0) {
    start.facts["restarts"] = context->launch.restarts;
    start.environment["restarted_after"] = context->launch.restart_cause;
  }
  append(start);
  int64_t step = *begun, saved_step = step;
  const auto save_if = [&](bool due) {
    if (!due || folder.empty() || context->local_rank != 0 || saved_step == step) return;
    saved_step = step;
    if (const auto saved = save(folder, step, recipe); !saved)
      exit(complain(saved.error().message, 1));
  };
  while (!stop_asked && step < recipe.training.steps) {
    if (++step > log->last_step()) append(step_record(step, context->rank, recipe));
    runs::give_word(context->word_fd, {runs::Word::State::working, step});
    std::this_thread::sleep_for(pause);
    save_if(recipe.checkpoint.every > 0 && step % recipe.checkpoint.every == 0);
  }
  save_if(true);
  append(telemetry::End{unix_now(), stop_asked ? "stopped" : "done", "", {{"peak_bytes", 1e6}}});
  if (context->rank == 0)
    if (const auto left = write_atomically(context->run_dir + "/results.json", "{}\n"); !left)
      return complain(left.error().message, 1);
  using State = runs::Word::State;
  runs::give_word(context->word_fd, {stop_asked ? State::stopped : State::done, step});
  return stop_asked ? 130 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "rank") return run_rank({argv + 2, argv + argc});
  using launch::SuperviseAction;
  launch::SuperviseOptions options;
  CLI::App app;
  CLI::App* supervise = app.add_subcommand("supervise");
  supervise->add_option("--run-dir", options.run_dir)->required();
  supervise->add_flag("--secret-stdin", options.secret_on_stdin);
  supervise->add_flag("--attached", options.attached);
  supervise->add_option("--first-run-dir", options.first_run_dir);
  supervise->add_option("--rendezvous-host", options.rendezvous_host);
  supervise->add_flag_callback("--status", [&] { options.action = SuperviseAction::status; });
  supervise->add_flag_callback("--stop", [&] { options.action = SuperviseAction::stop; });
  supervise->add_flag_callback("--kill", [&] { options.action = SuperviseAction::kill; });
  links::CommandOptions links;
  const CLI::App* measure = links::add_command(app, links);
  CLI11_PARSE(app, argc, argv);
  if (*measure) return links::run_command(links);
  return launch::supervise(options);
}
