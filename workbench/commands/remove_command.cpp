// heddle remove RUN
#include <fmt/format.h>

#include <memory>

#include "workbench/commands/command.h"
#include "workbench/control.h"

namespace heddle::workbench {

void add_remove(CLI::App& app, Context& context) {
  auto name = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("remove", "Remove an ended run for good, here and on its hosts");
  command->add_option("RUN", *name, "a run's name or id")->required();
  command->callback([name, &context] {
    context.exit_code = with_reader(context, [&](storage::Reader& reader) -> Result<int> {
      const Result<storage::RunDetail> run = find_run(reader, *name);
      if (!run) return fail(run);
      const auto writer = storage::Writer::open(context.store);
      if (!writer) return fail(writer);
      if (const Result<> removed = remove(**writer, *run); !removed) return fail(removed);
      fmt::print("{} is removed\n", run->summary.name);
      return kExitDone;
    });
  });
}

}  // namespace heddle::workbench
