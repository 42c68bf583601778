// heddle import PATH...
#include <fmt/format.h>

#include "base/one_line.h"
#include "base/say.h"
#include "workbench/commands/command.h"
#include "workbench/import.h"

namespace heddle::workbench {

int import_command(const Context& context, const std::vector<std::string>& paths) {
  const auto writer = storage::Writer::open(context.store);
  if (!writer) return report(writer.error());
  int exit_code = kExitDone;
  for (const Imported& one : import_runs(context.store, **writer, paths)) {
    if (!one.run) {
      exit_code = report(one.run.error());
    } else if (one.in_trash) {
      say("{} (run {}) is in the trash, from {}; `heddle restore {}` brings it back\n",
          one.run->name, one.run->id, one_line(one.path), one.run->id);
    } else {
      say("{} (run {}) {} {}\n", one.run->name, one.run->id,
          one.was_here ? "is here already, from" : "is imported from", one_line(one.path));
    }
  }
  return exit_code;
}

}  // namespace heddle::workbench
