// heddle export RUN --to DIR
#include <fmt/format.h>

#include "storage/export.h"
#include "workbench/commands/command.h"

namespace heddle::workbench {

int export_command(const Context& context, const ExportOptions& options) {
  return with_reader(context, [&](storage::Reader& reader) -> Result<int> {
    const Result<storage::RunSummary> run = reader.find_run(options.run);
    if (!run) return fail(run);
    const Result<> exported = storage::export_run(reader, run->id, options.folder);
    if (!exported) return fail(exported);
    fmt::print("{} is exported to {}\n", run->name, options.folder);
    return kExitDone;
  });
}

}  // namespace heddle::workbench
