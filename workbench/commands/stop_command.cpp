// heddle stop RUN [--kill] [--discard]
#include <fmt/format.h>

#include "base/say.h"
#include "workbench/commands/command.h"
#include "workbench/control.h"
#include "workbench/ending.h"

namespace heddle::workbench {

int stop_command(const Context& context, const StopOptions& options) {
  using Run = storage::RunDetail;
  return with_run(context, options.run, [&](storage::Reader&, const Run& run) -> Result<int> {
    const std::string& name = run.summary.name;
    const std::string what = options.kill ? what_kill_does(run) : what_stop_does(run);
    if (!storage::has_ended(run.summary.state) && !stop_keeps(run) && !options.discard)
      return report(Error{fmt::format("{}: {} To end it all the same: heddle stop {}{} --discard",
                                      name, what, name, options.kill ? " --kill" : "")},
                    kExitUsage);
    const Result<> asked = options.kill ? kill(run) : stop(run);
    if (!asked) return fail(asked);
    say("{} was asked to {}. {}\n", name, options.kill ? "end" : "stop", what);
    return kExitDone;
  });
}

}  // namespace heddle::workbench
