// heddle export RUN --to DIR|FILE.heddle [--weights]
#include <fmt/format.h>

#include "base/say.h"
#include "storage/export.h"
#include "workbench/commands/command.h"
#include "workbench/importers/heddle_store.h"
#include "workbench/run_file.h"
#include "workbench/weights.h"

namespace heddle::workbench {
namespace {

Result<int> report_weights(const storage::RunDetail& run, const std::string& folder) {
  const Result<ExportedWeights> exported = export_weights(run, folder);
  if (!exported) return fail(exported);
  for (const std::string& note : exported->notes) say(stderr, "{}\n", note);
  say("{}'s weights are exported to {}\n", run.summary.name, exported->folder);
  return kExitDone;
}

}  // namespace

int export_command(const Context& context, const ExportOptions& options) {
  using Run = storage::RunDetail;
  return with_run(
      context, options.run, [&](storage::Reader& reader, const Run& run) -> Result<int> {
        if (options.weights) return report_weights(run, options.folder);
        const Result<> exported = options.folder.ends_with(kRunFile)
                                      ? export_run_file(context.store, run.summary, options.folder)
                                      : storage::export_run(reader, run.summary.id, options.folder);
        if (!exported) return fail(exported);
        say("{} is exported to {}\n", run.summary.name, options.folder);
        return kExitDone;
      });
}

}  // namespace heddle::workbench
