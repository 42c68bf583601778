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

Result<remote::Target> target_named(const std::string& store, const std::string& name) {
  Result<storage::Reader> reader = storage::Reader::open(store);
  if (!reader) return fail(reader);
  return find_target(*reader, name).map([](const SavedTarget& saved) { return saved.target; });
}

}  // namespace

int launch_command(const Context& context, const LaunchOptions& options) {
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

}  // namespace heddle::workbench
