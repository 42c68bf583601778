// heddle export RUN --to DIR
#include <fmt/format.h>

#include "base/say.h"
#include "storage/export.h"
#include "workbench/commands/command.h"

namespace heddle::workbench {

int export_command(const Context& context, const ExportOptions& options) {
  using Run = storage::RunDetail;
  return with_run(
      context, options.run, [&](storage::Reader& reader, const Run& run) -> Result<int> {
        const Result<> exported = storage::export_run(reader, run.summary.id, options.folder);
        if (!exported) return fail(exported);
        say("{} is exported to {}\n", run.summary.name, options.folder);
        return kExitDone;
      });
}

}  // namespace heddle::workbench
