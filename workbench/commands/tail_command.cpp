// heddle tail RUN

#include "workbench/commands/command.h"
#include "workbench/commands/watch.h"
#include "workbench/workbench.h"

namespace heddle::workbench {

int tail_command(const Context& context, const std::string& name) {
  return with_reader(context, [&](storage::Reader& reader) -> Result<int> {
    const Result<storage::RunDetail> run = find_run(reader, name);
    if (!run) return fail(run);
    // Takes in what the run writes, unless another process does so already.
    const auto workbench = Workbench::open(context.store);
    if (!workbench) return fail(workbench);
    return watch(context.store, run->summary.id);
  });
}

}  // namespace heddle::workbench
