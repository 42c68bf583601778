// heddle stop RUN [--kill] [--discard]
#include <fmt/format.h>
#include <stdio.h>

#include "base/say.h"
#include "workbench/commands/command.h"
#include "workbench/commands/watch.h"
#include "workbench/control.h"
#include "workbench/ending.h"
#include "workbench/lost_hosts.h"
#include "workbench/workbench.h"

namespace heddle::workbench {

int stop_command(const Context& context, const StopOptions& options) {
  using Run = storage::RunDetail;
  return with_run(context, options.run, [&](storage::Reader&, const Run& run) -> Result<int> {
    const std::string& name = run.summary.name;
    const std::string what = options.kill ? describe_kill(run) : describe_stop(run);
    if (!storage::has_ended(run.summary.state) && !stop_keeps(run) && !options.discard)
      return report(Error{fmt::format("{}: {} To end it all the same: heddle stop {}{} --discard",
                                      name, what, name, options.kill ? " --kill" : "")},
                    kExitUsage);
    if (run.summary.state == storage::RunState::queued) {
      const auto writer = storage::Writer::open(context.store);
      if (!writer) return fail(writer);
      const Result<> out = (*writer)->take_out(run.summary.id).get();
      if (!out) return fail(out);
      say("{} has left the queue; it had not begun.\n", name);
      return kExitDone;
    }
    if (loss_of(run).goes_on_soon) {
      const auto writer = storage::Writer::open(context.store);
      if (!writer) return fail(writer);
      const auto kept = keep_from_going_on(**writer, run);
      if (!kept) return fail(kept);
      say("{} is lost, and does not go on by itself any more.\n", name);
      return kExitDone;
    }
    const Result<> asked = options.kill ? kill(run) : stop(run);
    if (!asked) return fail(asked);
    say("{} was asked to {}. {} Ctrl+C leaves it to end by itself.\n", name,
        options.kill ? "end" : "stop", what);
    fflush(stdout);
    // Takes in its end, unless another process does so already.
    const auto workbench = Workbench::open(context.store);
    if (!workbench) return fail(workbench);
    const Result<int> ended = await_end(context.store, run.summary.id);
    return ended ? Result<int>(kExitDone) : ended;
  });
}

}  // namespace heddle::workbench
