// heddle launch RECIPE --on TARGET [--set key=value]... [--name NAME] [--mode MODE] [--wait]
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "workbench/commands/command.h"
#include "workbench/commands/format.h"
#include "workbench/commands/launch_and_watch.h"
#include "workbench/targets.h"

namespace heddle::workbench {
namespace {

struct Options {
  std::string recipe;
  std::string target{remote::kThisMachine};
  std::vector<std::string> sets;
  std::string name;
  std::string mode = "planned";
  bool wait = false;
};

Result<remote::Target> target_named(const std::string& store, const std::string& name) {
  Result<storage::Reader> reader = storage::Reader::open(store);
  if (!reader) return fail(reader);
  return find_target(*reader, name).map([](const SavedTarget& saved) { return saved.target; });
}

int launch_recipe(const Context& context, const Options& options) {
  Result<LaunchRequest> request = request_from_file(options.recipe);
  if (!request) return report(request.error(), kExitUsage);
  Result<remote::Target> target = target_named(context.store, options.target);
  if (!target) return report(target.error(), kExitUsage);
  request->sets = options.sets;
  request->target = std::move(*target);
  request->name = options.name;
  request->mode = options.mode;
  if (options.wait) return launch_and_watch(context.store, *request).exit_code;

  Result<std::unique_ptr<storage::Writer>> writer = storage::Writer::open(context.store);
  if (!writer) return report(writer.error());
  const auto run = launch(**writer, *request, TerminalProgress());
  if (!run) return report_launch(run.error());
  fmt::print("{} (run {}) is running on {}; follow it with: heddle tail {}\n", run->name, run->id,
             options.target, run->name);
  return kExitDone;
}

}  // namespace

void add_launch(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("launch", "Train a recipe on a target, detached");
  command->add_option("RECIPE", options->recipe, "a recipe's file (TOML)")->required();
  command->add_option("--on", options->target, "a target's name; see heddle targets")
      ->type_name("TARGET")
      ->capture_default_str();
  // One value each, or RECIPE after it would be taken for another.
  command->add_option("--set", options->sets, "another value for a key of the recipe")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  command->add_option("--name", options->name, "the run's name; default: the recipe's");
  command->add_option("--mode", options->mode, "planned | eager")
      ->check(CLI::IsMember({"planned", "eager"}))
      ->capture_default_str();
  command->add_flag("--wait", options->wait, "follow the run to its end; Ctrl+C stops it");
  command->callback([options, &context] { context.exit_code = launch_recipe(context, *options); });
}

}  // namespace heddle::workbench
