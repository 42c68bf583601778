// What differs between runs: recipe, environment and results, with no cap on their number.
#include <set>

#include "storage/connection.h"
#include "storage/queries.h"

namespace heddle::storage {
namespace {

/// Each key of any run with its value in all of them; with `only_different`, equal ones left out.
std::vector<Compared> side_by_side(const std::vector<Values>& runs, bool only_different) {
  std::set<std::string> keys;
  for (const Values& run : runs) {
    for (const auto& [key, value] : run) keys.insert(key);
  }
  std::vector<Compared> rows;
  for (const std::string& key : keys) {
    Compared row{key, {}};
    bool different = false;
    for (const Values& run : runs) {
      const auto found = run.find(key);
      row.values.push_back(found == run.end() ? std::nullopt : std::optional(found->second));
      different = different || row.values.back() != row.values.front();
    }
    if (different || !only_different) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

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
  comparison.recipe = side_by_side(recipes, true);
  comparison.environment = side_by_side(environments, true);
  comparison.results = side_by_side(results, false);
  return comparison;
}

}  // namespace heddle::storage
