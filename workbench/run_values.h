// Values of runs by key: what runs are filtered and sorted by, and the columns of their tables. The
// keys are those of filter_keys.h.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/queries.h"
#include "workbench/metric_tails.h"
#include "workbench/run_filter.h"

namespace heddle::workbench {

/// The keys that a store's runs have, besides the columns.
struct RunKeys {
  std::vector<std::string> columns;  // "recipe.optimizer.lr", "environment.gpu", "results.mfu"
  std::vector<std::string> metrics;  // "loss": each has its aggregates
};
Result<RunKeys> read_keys(storage::Reader& reader);

using RunValues = std::map<storage::RunId, storage::Value>;

/// One key over all runs. Fails where no run can have it; the message has the nearest name. `tails`
/// saves reading the ends of series again; null: they are read.
Result<RunValues> read_values(storage::Reader& reader, const RunKeys& keys, const std::string& key,
                              MetricTails* tails = nullptr);

/// A value that the run's summary has; nullopt: it is not one of its keys, or the run has none.
std::optional<storage::Value> value_of(const storage::RunSummary& run, const std::string& key,
                                       double now);
/// Whether `key` is one that value_of knows.
bool is_of_summary(const std::string& key);

/// The words of a run that plain words of a filter are looked for in.
std::string words_of(const storage::RunSummary& run);

/// A metric's aggregate: "best" is the least or the most, as the metric's direction says.
std::optional<double> aggregate(const storage::MetricSummary& summary, const MetricKey& key);

/// The runs that the filter lets through, in their order. Fails, with the place, where the filter
/// is not understood or names what no run has.
Result<std::vector<storage::RunSummary>> filtered(storage::Reader& reader, const RunFilter& filter,
                                                  std::vector<storage::RunSummary> runs);

}  // namespace heddle::workbench
