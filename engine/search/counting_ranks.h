// The search for the best layout over several numbers of ranks: how many ranks a recipe needs, and
// its cost.
#pragma once

#include "engine/plan/answers.h"
#include "engine/search/searching.h"

namespace heddle::search {

using CountingHooks = plan::Hooks<plan::RankCounts>;

/// A search for each number, each with the sequences of a step that `search_layouts` gives it. A
/// number that has no layout says why; faults only where none of them can be searched at all.
plan::CountingAnswer count_ranks(predict::Planning& planning, const plan::SearchQuestion& asked,
                                 const CountingHooks& hooks);

}  // namespace heddle::search
