// heddle runs [--trash] [--json]
#include <fmt/format.h>

#include "base/json_text.h"
#include "base/say.h"
#include "storage/json.h"
#include "workbench/commands/command.h"
#include "workbench/commands/format.h"

namespace heddle::workbench {
namespace {

std::string runs_table(const std::vector<storage::RunSummary>& runs) {
  std::vector<std::vector<std::string>> rows{{"ID", "NAME", "STATE", "TARGET", "RECIPE", "CREATED",
                                              "STEPS", "PER RANK", "LOSS", "LINEAGE"}};
  for (const storage::RunSummary& run : runs) {
    rows.push_back({std::to_string(run.id), run.name, storage::to_string(run.state), run.target,
                    run.recipe_name, time_text(run.created),
                    count_text(static_cast<double>(run.steps)),
                    or_none(Unit::tokens_per_second, run.tokens_per_second_per_rank),
                    or_none(Unit::loss, run.loss), lineage_text(run)});
  }
  return table(std::move(rows), {0, 6, 7, 8},
               {.names = {1, 3, 4, 9}, .columns = terminal_columns()});
}

}  // namespace

int runs_command(const Context& context, const RunsOptions& options) {
  return with_reader(context, [&](storage::Reader& reader) -> Result<int> {
    const auto runs = reader.runs(options.trash);
    if (!runs) return fail(runs);
    if (options.json) {
      say("{}\n", json_text(storage::runs_json(*runs), 2));
    } else if (runs->empty()) {
      say("{}\n", options.trash ? "The trash is empty."
                                : "There are no runs yet; heddle launch RECIPE makes one.");
    } else {
      say("{}", runs_table(*runs));
    }
    return kExitDone;
  });
}

}  // namespace heddle::workbench
