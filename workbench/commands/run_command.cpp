#include "workbench/commands/run_command.h"

#include <cstring>
#include <string_view>

#include "storage/store.h"
#include "workbench/commands/command.h"

namespace heddle::workbench {
namespace {

constexpr std::string_view kCommands[] = {"launch",  "stop",   "tail", "remove",  "import",
                                          "targets", "runs",   "show", "compare", "export",
                                          "--demo",  "--help", "-h"};

}  // namespace

bool is_command(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--store") {
      ++i;
    } else if (!word.starts_with("--store=")) {
      return std::find(std::begin(kCommands), std::end(kCommands), word) != std::end(kCommands);
    }
  }
  return false;
}

int run_command(int argc, char** argv) {
  Context context{.store = storage::default_path()};
  CLI::App app("Without a command the workbench's window opens.", "heddle");
  app.fallthrough();
  app.require_subcommand(0, 1);
  app.add_option("--store", context.store, "the store's file")->type_name("FILE");
  add_launch(app, context);
  add_stop(app, context);
  add_tail(app, context);
  add_runs(app, context);
  add_show(app, context);
  add_compare(app, context);
  add_export(app, context);
  add_import(app, context);
  add_remove(app, context);
  add_targets(app, context);
  add_demo(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitDone : kExitUsage;
  }
  return context.exit_code;
}

int report(const Error& error, int exit_code) {
  fmt::print(stderr, "heddle: {}\n", error.message);
  return exit_code;
}

Result<storage::RunDetail> find_run(storage::Reader& reader, const std::string& name_or_id) {
  const Result<storage::RunSummary> found = reader.find_run(name_or_id);
  if (!found) return fail(found);
  return reader.run(found->id);
}

}  // namespace heddle::workbench
