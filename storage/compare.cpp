// Runs side by side: recipe, environment and results, with no cap on their number.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "storage/connection.h"
#include "storage/difference.h"
#include "storage/queries.h"

namespace heddle::storage {
namespace {

/// Each key of any run with its value in all of them.
std::vector<Compared> side_by_side(const std::vector<Comparand>& runs, Values Comparand::*part) {
  std::set<std::string> keys;
  for (const Comparand& run : runs) {
    for (const auto& [key, value] : run.*part) keys.insert(key);
  }
  std::vector<Compared> rows;
  for (const std::string& key : keys) {
    Compared row{key, {}};
    for (const Comparand& run : runs) {
      const Values& values = run.*part;
      const auto found = values.find(key);
      row.values.push_back(found == values.end() ? std::nullopt : std::optional(found->second));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// A number with the nine digits that distinguish any two single-precision numbers.
std::string precise(double value) { return fmt::format("{:.9g}", value); }

}  // namespace

bool same(const std::optional<Value>& a, const std::optional<Value>& b) {
  if (a == b) return true;
  if (!a || !b) return false;
  const auto left = number_of(*a), right = number_of(*b);
  if (left && right) return precise(*left) == precise(*right);
  return false;
}

bool Compared::differs() const {
  return std::any_of(values.begin(), values.end(),
                     [this](const auto& value) { return !same(value, values.front()); });
}

Comparison compare(std::vector<Comparand> runs) {
  Comparison comparison;
  comparison.recipe = side_by_side(runs, &Comparand::recipe);
  comparison.environment = side_by_side(runs, &Comparand::environment);
  comparison.results = side_by_side(runs, &Comparand::results);
  for (Comparand& run : runs) comparison.runs.push_back(std::move(run.summary));
  return comparison;
}

Result<Comparison> Reader::compare(const std::vector<RunId>& runs) {
  std::vector<Comparand> compared;
  for (const RunId run : runs) {
    Result<RunDetail> detail = this->run(run);
    if (!detail) return fail(detail);
    Result<Values> recipe = recipe_values(run);
    if (!recipe) return fail(recipe);
    const auto metrics = metric_summaries(run);
    if (!metrics) return fail(metrics);
    add_metrics(detail->results, *metrics);
    compared.push_back({std::move(detail->summary), std::move(*recipe),
                        std::move(detail->environment), std::move(detail->results)});
  }
  return storage::compare(std::move(compared));
}

}  // namespace heddle::storage
