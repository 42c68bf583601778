// heddle stop RUN [--kill]
#include <fmt/format.h>

#include <memory>

#include "workbench/commands/command.h"
#include "workbench/control.h"

namespace heddle::workbench {

void add_stop(CLI::App& app, Context& context) {
  struct Options {
    std::string run;
    bool kill = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("stop", "End a run after its step and a checkpoint");
  command->add_option("RUN", options->run, "a run's name or id")->required();
  command->add_flag("--kill", options->kill, "kill its ranks at once");
  command->callback([options, &context] {
    context.exit_code = with_reader(context, [&](storage::Reader& reader) -> Result<int> {
      const Result<storage::RunDetail> run = find_run(reader, options->run);
      if (!run) return fail(run);
      const Result<> asked = options->kill ? kill(*run) : stop(*run);
      if (!asked) return fail(asked);
      fmt::print("{} was asked to {}\n", run->summary.name, options->kill ? "end" : "stop");
      return kExitDone;
    });
  });
}

}  // namespace heddle::workbench
