// heddle import PATH...
#include <fmt/format.h>

#include "workbench/commands/command.h"
#include "workbench/import.h"

namespace heddle::workbench {
int import_command(const Context& context, const std::vector<std::string>& paths) {
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

}  // namespace heddle::workbench
