#include "workbench/run_values.h"

#include <algorithm>
#include <cmath>

#include "engine/telemetry/metrics.h"
#include "storage/clock.h"
#include "storage/difference.h"

namespace heddle::workbench {
namespace {

using storage::Value;

constexpr std::string_view kSummaryKeys[] = {
    "state", "name",  "target",   "recipe", "steps",   "loss",     "toks",  "created",
    "age",   "notes", "duration", "tags",   "starred", "archived", "group", "parent"};

std::optional<Value> number_or_none(const std::optional<double>& number) {
  return number ? std::optional<Value>(*number) : std::nullopt;
}

Value yes_or_no(bool yes) { return std::string(yes ? "yes" : "no"); }

/// Names that a person may have meant.
std::string unknown_key(const RunKeys& keys, const std::string& key) {
  std::vector<std::string> names;
  for (const FilterColumn& column : filter_columns()) names.emplace_back(column.key);
  names.insert(names.end(), keys.metrics.begin(), keys.metrics.end());
  names.insert(names.end(), keys.columns.begin(), keys.columns.end());
  const std::string near = nearest(key, names);
  return "no run has " + key + (near.empty() ? "" : "; did you mean " + near + "?");
}

Result<RunValues> metric_values(storage::Reader& reader, const MetricKey& key,
                                MetricTails* tails = nullptr) {
  MetricTails none;
  const auto summaries = key.tail == 0 ? reader.metric_summaries(key.metric)
                                       : (tails ? *tails : none).read(reader, key.metric, key.tail);
  if (!summaries) return fail(summaries);
  RunValues values;
  for (const auto& [run, summary] : *summaries)
    if (const auto value = aggregate(summary, key)) values.emplace_hint(values.end(), run, *value);
  return values;
}

/// Exposed communication as a share of the step.
Result<RunValues> exposed_values(storage::Reader& reader) {
  const auto exposed = reader.column("results.exposed_seconds");
  if (!exposed) return fail(exposed);
  const auto step = reader.column("results.step_seconds");
  if (!step) return fail(step);
  RunValues shares;
  for (const auto& [run, value] : *exposed) {
    const auto whole = step->find(run);
    const auto part = storage::number_of(value);
    const auto seconds = whole == step->end() ? std::nullopt : storage::number_of(whole->second);
    if (part && seconds && *seconds > 0) shares[run] = *part / *seconds;
  }
  return shares;
}

}  // namespace

Result<RunKeys> read_keys(storage::Reader& reader) {
  RunKeys keys;
  auto columns = reader.columns();
  if (!columns) return fail(columns);
  keys.columns = std::move(*columns);
  auto metrics = reader.metric_names();
  if (!metrics) return fail(metrics);
  keys.metrics = std::move(*metrics);
  return keys;
}

Result<RunValues> read_values(storage::Reader& reader, const RunKeys& keys, const std::string& key,
                              MetricTails* tails) {
  if (key == "memory") return reader.column("results.peak_bytes");
  if (key == "exposed") return exposed_values(reader);
  if (key == "best_loss") return metric_values(reader, {"best", "loss"});
  if (const auto metric = metric_key(key)) {
    if (std::ranges::find(keys.metrics, metric->metric) == keys.metrics.end())
      return fail("{}", unknown_key(keys, metric->metric));
    return metric_values(reader, *metric, tails);
  }
  RunValues values;
  bool known = false;
  for (const std::string& column : keys.columns) {
    if (!names_column(key, column)) continue;
    auto found = reader.column(column);
    if (!found) return fail(found);
    known = true;
    values.merge(*found);
  }
  // A metric without its aggregate is its last value.
  if (!known && std::ranges::find(keys.metrics, key) != keys.metrics.end())
    return metric_values(reader, {"last", key});
  if (!known) return fail("{}", unknown_key(keys, key));
  return values;
}

bool is_of_summary(const std::string& key) {
  return std::ranges::find(kSummaryKeys, key) != std::end(kSummaryKeys);
}

std::optional<Value> value_of(const storage::RunSummary& run, const std::string& key, double now) {
  if (key == "state") return storage::to_string(run.state);
  if (key == "name") return run.name;
  if (key == "target") return run.target;
  if (key == "recipe") return run.recipe_name;
  if (key == "steps") return static_cast<double>(run.steps);
  if (key == "loss") return number_or_none(run.loss);
  if (key == "toks") return number_or_none(run.tokens_per_second_per_rank);
  if (key == "created") return run.created;
  if (key == "age") return now - run.created;
  if (key == "notes") return run.notes;
  if (key == "group") return run.group;
  if (key == "parent") return run.lineage ? run.lineage->parent_name : std::string();
  if (key == "starred") return yes_or_no(run.starred.has_value());
  if (key == "archived") return yes_or_no(run.archived.has_value());
  if (key == "duration") {
    if (storage::has_ended(run.state)) return number_or_none(storage::seconds_taken(run));
    return run.started ? std::optional<Value>(now - *run.started) : std::nullopt;
  }
  if (key == "tags") {
    std::string tags;
    for (const std::string& tag : run.tags) tags += (tags.empty() ? "" : "\n") + tag;
    return tags;
  }
  return std::nullopt;
}

std::string words_of(const storage::RunSummary& run) {
  std::string words = run.name + ' ' + storage::to_string(run.state) + ' ' + run.target + ' ' +
                      run.recipe_name + ' ' + run.notes;
  for (const std::string& tag : run.tags) words += ' ' + tag;
  return words;
}

std::optional<double> aggregate(const storage::MetricSummary& summary, const MetricKey& key) {
  if (summary.count == 0) return std::nullopt;
  if (key.aggregate == "last") return summary.last;
  // Where nothing is finite, that is the value.
  if (summary.nonfinite == summary.count) return summary.last;
  if (key.aggregate == "mean") return summary.mean;
  if (key.aggregate == "min") return summary.min;
  if (key.aggregate == "max") return summary.max;
  const telemetry::Better better = telemetry::metric(key.metric).better;
  if (better == telemetry::Better::less) return summary.min;
  if (better == telemetry::Better::more) return summary.max;
  return std::nullopt;
}

Result<std::vector<storage::RunSummary>> filtered(storage::Reader& reader, const RunFilter& filter,
                                                  std::vector<storage::RunSummary> runs) {
  if (filter.problem()) return fail("--filter: {}", filter.problem()->text);
  std::map<std::string, RunValues> columns;
  std::optional<RunKeys> keys;
  for (const std::string& key : filter.keys()) {
    if (is_of_summary(key)) continue;
    if (!keys) {
      auto read = read_keys(reader);
      if (!read) return fail(read);
      keys = std::move(*read);
    }
    auto values = read_values(reader, *keys, key);
    if (!values) return fail("--filter: {}", values.error().message);
    columns[key] = std::move(*values);
  }
  const double now = unix_now();
  std::erase_if(runs, [&](const storage::RunSummary& run) {
    return !filter.matches([&] { return words_of(run); },
                           [&](const std::string& key) -> std::optional<Value> {
                             if (is_of_summary(key)) return value_of(run, key, now);
                             const RunValues& values = columns.at(key);
                             const auto found = values.find(run.id);
                             if (found == values.end()) return std::nullopt;
                             return found->second;
                           });
  });
  return runs;
}

}  // namespace heddle::workbench
