// rank_engine supervise|rank …: an engine that trains nothing. Its supervisor is the engine's own;
// its ranks write real telemetry logs at the pace that the recipe gives as
// training.seed, in milliseconds a step, and obey signals, so that
// following, stopping and killing can be tested without LibTorch.
#include <signal.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "engine/launch/launch.h"
#include "engine/launch/process.h"
#include "engine/launch/rank_arguments.h"
#include "engine/launch/supervise.h"
#include "engine/recipe/parse.h"
#include "engine/telemetry/log_writer.h"

namespace {

using namespace heddle;

volatile sig_atomic_t stop_asked = 0;

int complain(const std::string& message, int exit_code) {
  fmt::print(stderr, "{}\n", message);
  return exit_code;
}

telemetry::Step step_record(int64_t step, int32_t rank) {
  const auto number = static_cast<double>(step);
  return {step,
          launch::now(),
          {{"loss", 8 / number + 0.001 * rank}, {"tokens_per_second", 1000 + number}}};
}

int run_rank(const std::vector<std::string>& words) {
  signal(SIGTERM, [](int) { stop_asked = 1; });
  const auto context = launch::parse_rank_arguments(words);
  if (!context) return complain(context.error().message, 2);
  const recipe::Parsed parsed = recipe::parse_file(context->run_dir + "/recipe.toml");
  for (const recipe::Fault& fault : parsed.faults) complain(fault.str(), 2);
  if (!parsed.ok()) return 2;
  const std::chrono::milliseconds pause(parsed.recipe.training.seed);

  auto log = telemetry::LogWriter::open(
      fmt::format("{}/rank-{}.{}.hlog", context->run_dir, context->rank, context->launch.epoch));
  if (!log) return complain(log.error().message, 1);
  const auto append = [&](const telemetry::Record& record) {
    if (const auto appended = log->append(record); !appended) {
      exit(complain(appended.error().message, 1));
    }
  };
  append(telemetry::Start{launch::now(),
                          context->rank,
                          context->launch.world_size,
                          context->launch.mode,
                          {{"engine", "rank_engine"}},
                          {{"nodes", 0}}});
  int64_t step = 0;
  while (!stop_asked && step < parsed.recipe.training.steps) {
    append(step_record(++step, context->rank));
    std::this_thread::sleep_for(pause);
  }
  append(telemetry::End{launch::now(), stop_asked ? "stopped" : "done", "", {{"peak_bytes", 1e6}}});
  return stop_asked ? 130 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "rank") return run_rank({argv + 2, argv + argc});
  using launch::SuperviseAction;
  launch::SuperviseOptions options;
  CLI::App app;
  CLI::App* supervise = app.add_subcommand("supervise")->required();
  supervise->add_option("--run-dir", options.run_dir)->required();
  supervise->add_flag_callback("--status", [&] { options.action = SuperviseAction::status; });
  supervise->add_flag_callback("--stop", [&] { options.action = SuperviseAction::stop; });
  supervise->add_flag_callback("--kill", [&] { options.action = SuperviseAction::kill; });
  CLI11_PARSE(app, argc, argv);
  return launch::supervise(options);
}
