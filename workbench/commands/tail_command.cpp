// heddle tail RUN
#include <memory>

#include "workbench/commands/command.h"
#include "workbench/commands/watch.h"
#include "workbench/workbench.h"

namespace heddle::workbench {

void add_tail(CLI::App& app, Context& context) {
  auto name = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("tail", "Follow a run to its end; Ctrl+C leaves it running");
  command->add_option("RUN", *name, "a run's name or id")->required();
  command->callback([name, &context] {
    context.exit_code = with_reader(context, [&](storage::Reader& reader) -> Result<int> {
      const Result<storage::RunDetail> run = find_run(reader, *name);
      if (!run) return fail(run);
      // Takes in what the run writes, unless another process does so already.
      const auto workbench = Workbench::open(context.store);
      if (!workbench) return fail(workbench);
      return watch(context.store, run->summary.id);
    });
  });
}

}  // namespace heddle::workbench
