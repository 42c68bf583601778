// The JSON that `heddle runs`, `show` and `compare` print. NaN and infinities are the strings
// "nan", "inf", "-inf": JSON has no numbers for them.
#pragma once

#include <nlohmann/json.hpp>

#include "storage/queries.h"

namespace heddle::storage {

/// [{id, name, state, target, recipe_name, created, steps, tokens_per_second_per_rank, loss}, …]
nlohmann::json runs_json(const std::vector<RunSummary>& runs);
/// A run's summary plus {recipe, environment, results, series}.
nlohmann::json show_json(const RunDetail& run);
/// {runs, differences: {key: [a value per run]}, results: {key: [a value per run]}}; keys of the
/// environment begin with "environment.".
nlohmann::json compare_json(const Comparison& comparison);

}  // namespace heddle::storage
