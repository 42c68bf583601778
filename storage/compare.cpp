// Runs side by side: recipe, environment and results, with no cap on their number.
#include <algorithm>
#include <set>

#include "storage/connection.h"
#include "storage/queries.h"

namespace heddle::storage {
namespace {

/// Each key of any run with its value in all of them.
std::vector<Compared> side_by_side(const std::vector<Values>& runs) {
  std::set<std::string> keys;
  for (const Values& run : runs) {
    for (const auto& [key, value] : run) keys.insert(key);
  }
  std::vector<Compared> rows;
  for (const std::string& key : keys) {
    Compared row{key, {}};
    for (const Values& run : runs) {
      const auto found = run.find(key);
      row.values.push_back(found == run.end() ? std::nullopt : std::optional(found->second));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

bool Compared::differs() const {
  return std::any_of(values.begin(), values.end(),
                     [this](const auto& value) { return value != values.front(); });
}

Result<Comparison> Reader::compare(const std::vector<RunId>& runs) {
  Comparison comparison;
  std::vector<Values> recipes, environments, results;
  for (const RunId run : runs) {
    Result<RunDetail> detail = this->run(run);
    if (!detail) return fail(detail);
    Result<Values> recipe = recipe_values(run);
    if (!recipe) return fail(recipe);
    comparison.runs.push_back(std::move(detail->summary));
    recipes.push_back(std::move(*recipe));
    environments.push_back(std::move(detail->environment));
    results.push_back(std::move(detail->results));
  }
  comparison.recipe = side_by_side(recipes);
  comparison.environment = side_by_side(environments);
  comparison.results = side_by_side(results);
  return comparison;
}

}  // namespace heddle::storage
