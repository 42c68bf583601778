// Runs as a table of chosen columns: sorted, or in groups with the mean and range of each column.
// The keys are those of filters (filter_keys.h).
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/queries.h"
#include "workbench/run_values.h"

namespace heddle::workbench {

/// One key with the value of each run that has one.
struct RunColumn {
  std::string key;
  RunValues values;

  std::optional<storage::Value> of(storage::RunId run) const;
};

/// The columns named in "lr,best(loss)", by keys or labels. Fails where no run can have one.
Result<std::vector<RunColumn>> read_columns(storage::Reader& reader, const std::string& list,
                                            const std::vector<storage::RunSummary>& runs);

/// By several keys, "loss,-created"; a minus: the largest first. Runs without a value come last.
Result<> sort_runs(storage::Reader& reader, const std::string& keys,
                   std::vector<storage::RunSummary>& runs);

std::string columns_text(const std::vector<storage::RunSummary>& runs,
                         const std::vector<RunColumn>& columns);
/// runs_json with {"columns": {key: value}} in each.
nlohmann::json columns_json(const std::vector<storage::RunSummary>& runs,
                            const std::vector<RunColumn>& columns);

/// The same as CSV: id, name, state, target, recipe, created, steps, loss, and the columns.
std::string columns_csv(const std::vector<storage::RunSummary>& runs,
                        const std::vector<RunColumn>& columns);

/// Runs with the same value of a key.
struct RunGroup {
  std::optional<storage::Value> value;
  std::vector<storage::RunSummary> runs;
  std::vector<RunGroup> groups;  // by the next key; empty for the last key
};
/// By the first key, and within each group by the next, in the order of their first runs.
std::vector<RunGroup> groups_of(const std::vector<storage::RunSummary>& runs,
                                std::span<const RunColumn> keys);

/// Inner groups are indented below their outer group.
std::string groups_text(const std::vector<RunGroup>& groups, const std::vector<RunColumn>& keys,
                        const std::vector<RunColumn>& columns);
/// [{"group", "runs": [names], "columns": {key: {count, mean, min, max}}}, …]; with "groups" of the
/// same where there is one more key.
nlohmann::json groups_json(const std::vector<RunGroup>& groups,
                           const std::vector<RunColumn>& columns);

}  // namespace heddle::workbench
