// heddle stop RUN [--kill]
#include <fmt/format.h>

#include "workbench/commands/command.h"
#include "workbench/control.h"

namespace heddle::workbench {

int stop_command(const Context& context, const StopOptions& options) {
  return with_reader(context, [&](storage::Reader& reader) -> Result<int> {
    const Result<storage::RunDetail> run = find_run(reader, options.run);
    if (!run) return fail(run);
    const Result<> asked = options.kill ? kill(*run) : stop(*run);
    if (!asked) return fail(asked);
    fmt::print("{} was asked to {}\n", run->summary.name, options.kill ? "end" : "stop");
    return kExitDone;
  });
}

}  // namespace heddle::workbench
