// heddle show RUN [--json]
#include <fmt/format.h>

#include <sstream>

#include "base/json_text.h"
#include "base/say.h"
#include "storage/clock.h"
#include "storage/json.h"
#include "storage/value_text.h"
#include "workbench/alignment_json.h"
#include "workbench/commands/command.h"
#include "workbench/commands/format.h"
#include "workbench/ending.h"

namespace heddle::workbench {
namespace {

std::string values_text(const std::string& title, const storage::Values& values) {
  if (values.empty()) return {};
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : values)
    rows.push_back({"  " + name, storage::value_text(name, value)});
  return "\n" + title + "\n" + table(rows);
}

std::string run_text(const storage::RunDetail& run) {
  const storage::RunSummary& summary = run.summary;
  std::vector<std::vector<std::string>> rows{
      {"name", fmt::format("{} (run {})", summary.name, summary.id)},
      {"state", storage::to_string(summary.state)}};
  std::istringstream cause(summary.cause);
  for (std::string line; std::getline(cause, line);)
    rows.push_back({rows.back().front() == "state" ? "cause" : "", line});
  if (const std::string restarts = describe_restarts(run); !restarts.empty())
    rows.push_back({"restarts", restarts});
  if (summary.lineage) rows.push_back({"lineage", lineage_text(summary)});
  rows.push_back({"target", summary.target});
  if (!run.run_dir.empty()) rows.push_back({"folder", run.run_dir});
  rows.push_back({"created", time_text(summary.created)});
  if (storage::has_ended(summary.state))
    rows.push_back({"took", or_none(Unit::seconds, storage::seconds_taken(summary))});
  rows.push_back({"steps", count_text(static_cast<double>(summary.steps))});
  rows.push_back({"loss", or_none(Unit::loss, summary.loss)});
  rows.push_back(
      {"per rank", or_none(Unit::tokens_per_second, summary.tokens_per_second_per_rank)});
  std::string series;
  for (const std::string& name : run.series) series += (series.empty() ? "" : ", ") + name;
  rows.push_back({"series", series.empty() ? kNone : series});
  return table(rows) + values_text("results", run.results) +
         values_text("environment", run.environment) + "\nrecipe\n" + run.recipe;
}

}  // namespace

int show_command(const Context& context, const ShowOptions& options) {
  using Run = storage::RunDetail;
  return with_run(context, options.run,
                  [&](storage::Reader& reader, const Run& run) -> Result<int> {
                    if (!options.json) {
                      say("{}\n", run_text(run));
                      return kExitDone;
                    }
                    const auto steps = read_steps(reader, run);
                    if (!steps) return fail(steps);
                    nlohmann::json json = storage::show_json(run);
                    json["prediction"] = prediction_json(*steps);
                    say("{}\n", json_text(json, 2));
                    return kExitDone;
                  });
}

}  // namespace heddle::workbench
