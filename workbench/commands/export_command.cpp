// heddle export RUN --to DIR
#include <fmt/format.h>

#include <memory>

#include "storage/export.h"
#include "workbench/commands/command.h"

namespace heddle::workbench {

void add_export(CLI::App& app, Context& context) {
  struct Options {
    std::string run;
    std::string folder;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("export", "Write a run's metrics.csv, trace.json and recipe.toml");
  command->add_option("RUN", options->run, "a run's name or id")->required();
  command->add_option("--to", options->folder, "the folder to write to")
      ->type_name("DIR")
      ->required();
  command->callback([options, &context] {
    context.exit_code = with_reader(context, [&](storage::Reader& reader) -> Result<int> {
      const Result<storage::RunSummary> run = reader.find_run(options->run);
      if (!run) return fail(run);
      const Result<> exported = storage::export_run(reader, run->id, options->folder);
      if (!exported) return fail(exported);
      fmt::print("{} is exported to {}\n", run->name, options->folder);
      return kExitDone;
    });
  });
}

}  // namespace heddle::workbench
