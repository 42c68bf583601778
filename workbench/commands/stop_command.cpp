// heddle stop RUN [--kill] [--discard]
#include <fmt/format.h>

#include "workbench/commands/command.h"
#include "workbench/control.h"
#include "workbench/ending.h"

namespace heddle::workbench {

int stop_command(const Context& context, const StopOptions& options) {
  return with_reader(context, [&](storage::Reader& reader) -> Result<int> {
    const Result<storage::RunDetail> run = find_run(reader, options.run);
    if (!run) return fail(run);
    if (!storage::has_ended(run->summary.state) && !stop_keeps(*run) && !options.discard)
      return report(Error{fmt::format("{}: {} To end it all the same: heddle stop {}{} --discard",
                                      run->summary.name,
                                      options.kill ? what_kill_does(*run) : what_stop_does(*run),
                                      run->summary.name, options.kill ? " --kill" : "")},
                    kExitUsage);
    const std::string what = options.kill ? what_kill_does(*run) : what_stop_does(*run);
    const Result<> asked = options.kill ? kill(*run) : stop(*run);
    if (!asked) return fail(asked);
    fmt::print("{} was asked to {}. {}\n", run->summary.name, options.kill ? "end" : "stop", what);
    return kExitDone;
  });
}

}  // namespace heddle::workbench
