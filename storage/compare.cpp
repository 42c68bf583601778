// Runs side by side: recipe, environment and results, with no cap on their number.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "storage/connection.h"
#include "storage/difference.h"
#include "storage/queries.h"

namespace heddle::storage {
namespace {

/// Each key of any run with its value in all of them.
/// All runs have their values in the same order, so one pass goes through them together.
std::vector<Compared> side_by_side(std::vector<Comparand>& runs, Values Comparand::*part) {
  std::vector<Values::iterator> next;
  for (Comparand& run : runs) next.push_back((run.*part).begin());
  const auto has_more = [&](size_t run) { return next[run] != (runs[run].*part).end(); };
  std::vector<Compared> rows;
  for (;;) {
    const std::string* first = nullptr;
    for (size_t run = 0; run < runs.size(); ++run)
      if (has_more(run) && (!first || next[run]->first < *first)) first = &next[run]->first;
    if (!first) return rows;
    Compared row{*first, {}};
    row.values.resize(runs.size());
    for (size_t run = 0; run < runs.size(); ++run)
      if (has_more(run) && next[run]->first == row.key)
        row.values[run] = std::move((next[run]++)->second);
    rows.push_back(std::move(row));
  }
}

/// A number with the nine digits that distinguish any two single-precision numbers.
std::string precise(double value) { return fmt::format("{:.9g}", value); }

}  // namespace

bool same(const std::optional<Value>& a, const std::optional<Value>& b) {
  if (a == b) return true;
  if (!a || !b) return false;
  const auto left = number_of(*a), right = number_of(*b);
  if (!left || !right) return false;
  // Their nine digits differ: formatting them would take most of a comparison's time.
  if (std::abs(*left - *right) > 1e-7 * std::max(std::abs(*left), std::abs(*right))) return false;
  return precise(*left) == precise(*right);
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
