// heddle import PATH...
#include <fmt/format.h>

#include <memory>

#include "workbench/commands/command.h"
#include "workbench/import.h"

namespace heddle::workbench {
namespace {

int import_all(const Context& context, const std::vector<std::string>& paths) {
  const auto writer = storage::Writer::open(context.store);
  if (!writer) return report(writer.error());
  if (const Result<> lease = (*writer)->take_lease(); !lease) return report(lease.error());
  int exit_code = kExitDone;
  for (const std::string& path : paths) {
    const auto run = import_run(**writer, path);
    if (run) {
      fmt::print("{} (run {}) is imported from {}\n", run->name, run->id, path);
    } else {
      exit_code = report(run.error());
    }
  }
  return exit_code;
}

}  // namespace

void add_import(CLI::App& app, Context& context) {
  auto paths = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("import", "Take in the directories of finished runs");
  command->add_option("PATH", *paths, "a run's directory")->required();
  command->callback([paths, &context] { context.exit_code = import_all(context, *paths); });
}

}  // namespace heddle::workbench
