// From a recipe's text to the layouts that train it fastest: the work of `search` and `plan
// --serve` for each request.
#pragma once

#include "engine/search/search.h"

namespace heddle::search {

/// Layout, batches, wrapping and recomputation are free unless they are fixed; all else is the
/// recipe's. A step keeps the recipe's sequences: its global batch where it has one, else its own
/// layout's number, in proportion to the ranks.
plan::SearchAnswer search_layouts(predict::Planning& planning, const plan::SearchQuestion& asked,
                                  const Hooks& hooks);

}  // namespace heddle::search
