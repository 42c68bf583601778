// heddle launch RECIPE --on TARGET [--set key=value]... [--name NAME] [--mode MODE] [--check |
// --wait]
#include <fmt/format.h>
#include <unistd.h>

#include <functional>
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

int check_and_print(const LaunchRequest& request) {
  const auto findings = check_launch(request);
  if (!findings) return report_launch(findings.error());
  for (const Finding& finding : *findings)
    fmt::print("{:<7} {}\n", probe::word(finding.status), finding.line());
  return may_start(*findings) ? kExitDone : kExitUsage;
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
  if (options.check) return check_and_print(*request);
  if (options.wait) return launch_and_watch(context.store, *request).exit_code;

  Result<std::unique_ptr<storage::Writer>> writer = storage::Writer::open(context.store);
  if (!writer) return report(writer.error());
  TerminalProgress progress;
  const auto run = launch(**writer, *request, std::ref(progress), std::ref(progress));
  if (!run) return report_launch(run.error());
  fmt::print("{} (run {}) is running on {}; follow it with: heddle tail {}\n", run->name, run->id,
             options.target, run->name);
  return kExitDone;
}

}  // namespace heddle::workbench
