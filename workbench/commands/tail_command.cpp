// heddle tail RUN

#include "workbench/commands/command.h"
#include "workbench/commands/watch.h"
#include "workbench/workbench.h"

namespace heddle::workbench {

int tail_command(const Context& context, const std::string& name) {
  using Run = storage::RunDetail;
  return with_run(context, name, [&](storage::Reader&, const Run& run) -> Result<int> {
    // Takes in what the run writes, unless another process does so already.
    const auto workbench = Workbench::open(context.store);
    if (!workbench) return fail(workbench);
    return watch(context.store, run.summary.id);
  });
}

}  // namespace heddle::workbench
