// From a recipe's text to the layouts that train it fastest: the work of `search` and `plan
// --serve` for each request.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "engine/predict/planning.h"
#include "engine/search/search.h"

namespace heddle::search {

/// Returns the result; or the errors of the recipe or the fixed keys; or why nothing can be
/// searched.
using SearchAnswer = std::variant<plan::SearchResult, std::vector<recipe::Fault>, Error>;

/// Layout, batches, wrapping and recomputation are free unless they are fixed; all else is the
/// recipe's. A step keeps the recipe's sequences: its global batch where it has one, else its own
/// layout's number, in proportion to the ranks.
SearchAnswer search_layouts(predict::Planning& planning, const plan::SearchQuestion& asked,
                            const search::Hooks& hooks);

}  // namespace heddle::search
