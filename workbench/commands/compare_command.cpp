// heddle compare RUN RUN... [--json | --report FILE]
#include <fmt/format.h>

#include <algorithm>

#include "base/json_text.h"
#include "base/say.h"
#include "storage/difference.h"
#include "storage/json.h"
#include "storage/value_text.h"
#include "workbench/alignment_json.h"
#include "workbench/commands/command.h"
#include "workbench/commands/compare_text.h"
#include "workbench/commands/format.h"
#include "workbench/report/report.h"

namespace heddle::workbench {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// From the first run, and whether that is better: "+1.90 GiB worse".
std::string difference(const std::string& key, const std::optional<storage::Value>& baseline,
                       const std::optional<storage::Value>& value) {
  const auto found = storage::difference_of(key, baseline, value);
  if (!found || found->amount == 0) return "";
  const char* sign = found->better > 0 ? " better" : found->better < 0 ? " worse" : "";
  return storage::difference_text(key, *found) + sign;
}

void add_rows(Rows& rows, const std::string& title, const std::vector<storage::Compared>& compared,
              bool only_differing) {
  bool titled = false;
  for (const storage::Compared& line : compared) {
    if (only_differing && !line.differs()) continue;
    if (!titled) rows.insert(rows.end(), {{}, {title}});
    titled = true;
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back("  " + line.key);
    const std::vector<std::string> texts = storage::value_texts(line.key, line.values, kNone);
    for (size_t i = 0; i < texts.size(); ++i) {
      row.push_back(texts[i]);
      if (i > 0) row.push_back(difference(line.key, line.values.front(), line.values[i]));
    }
  }
}

/// Compares the first run's step with each other run's.
Result<nlohmann::json> read_breakdown(storage::Reader& reader,
                                      const std::vector<storage::RunId>& runs) {
  std::vector<RunSteps> steps;
  for (const storage::RunId run : runs) {
    const auto detail = reader.run(run);
    if (!detail) return fail(detail);
    auto read = read_steps(reader, *detail);
    if (!read) return fail(read);
    steps.push_back(std::move(*read));
  }
  nlohmann::json list = nlohmann::json::array();
  for (size_t i = 1; i < steps.size(); ++i)
    for (nlohmann::json each : breakdown_json(steps.front(), steps[i]))
      list.push_back(std::move(each));
  return list;
}

}  // namespace

std::string compare_text(const storage::Comparison& comparison) {
  Rows rows(7);
  rows[0] = {"run"};
  rows[1] = {"state"};
  rows[2] = {"target"};
  rows[3] = {"steps"};
  rows[4] = {"loss"};
  rows[5] = {"per rank"};
  rows[6] = {"lineage"};
  const storage::RunSummary& first = comparison.runs.front();
  for (const storage::RunSummary& run : comparison.runs) {
    rows[0].push_back(elided(run.name, 40));
    rows[1].push_back(storage::to_string(run.state));
    rows[2].push_back(run.target);
    rows[3].push_back(count_text(static_cast<double>(run.steps)));
    rows[4].push_back(or_none(Unit::loss, run.loss));
    rows[5].push_back(or_none(Unit::tokens_per_second, run.tokens_per_second_per_rank));
    rows[6].push_back(run.lineage ? lineage_text(run) : kNone);
    if (&run == &first) continue;
    for (auto& row : rows) row.emplace_back();
    rows[0].back() = "difference";
    rows[4].back() = difference("loss", first.loss, run.loss);
    rows[5].back() = difference("tokens_per_second_per_rank", first.tokens_per_second_per_rank,
                                run.tokens_per_second_per_rank);
  }
  if (std::ranges::none_of(comparison.runs,
                           [](const storage::RunSummary& run) { return run.lineage.has_value(); }))
    rows.pop_back();
  add_rows(rows, "recipe, where they differ", comparison.recipe, true);
  add_rows(rows, "environment, where they differ", comparison.environment, true);
  add_rows(rows, "results", comparison.results, false);
  return table(rows);
}

int compare_command(const Context& context, const CompareOptions& options) {
  if (!options.report.empty() && !is_report_name(options.report))
    return report(Error{fmt::format("--report: {} does not end in .html or .md", options.report)},
                  kExitUsage);
  return with_reader(context, [&](storage::Reader& reader) -> Result<int> {
    std::vector<storage::RunId> ids;
    for (const std::string& name : options.runs) {
      const Result<storage::RunDetail> run = find_run(reader, name);
      if (!run) return report(run.error(), kExitUsage);
      ids.push_back(run->summary.id);
    }
    if (!options.report.empty()) {
      const auto written = write_report(reader, {.runs = ids}, options.report);
      if (!written) return fail(written);
      say("{}\n", options.report);
      return kExitDone;
    }
    const auto comparison = reader.compare(ids);
    if (!comparison) return fail(comparison);
    if (!options.json) {
      say("{}\n", compare_text(*comparison));
      return kExitDone;
    }
    const auto breakdown = read_breakdown(reader, ids);
    if (!breakdown) return fail(breakdown);
    nlohmann::json json = storage::compare_json(*comparison);
    json["breakdown"] = *breakdown;
    say("{}\n", json_text(json, 2));
    return kExitDone;
  });
}

}  // namespace heddle::workbench
