// The search for the best layout over several numbers of ranks: how many ranks a recipe needs, and
// its cost.
#pragma once

#include <functional>
#include <variant>
#include <vector>

#include "engine/plan/rank_counts.h"
#include "engine/search/searching.h"

namespace heddle::search {

struct CountingHooks {
  std::function<bool()> cancelled = [] { return false; };
  /// The document so far, and the share of the searches that is done, 0 to 1.
  std::function<void(const plan::RankCounts&, double)> progress = [](const auto&, double) {};
};

/// As SearchAnswer.
using CountingAnswer = std::variant<plan::RankCounts, std::vector<recipe::Fault>, Error>;

/// A search for each number, each with the sequences of a step that `search_layouts` gives it. A
/// number that has no layout says why; faults only where none of them can be searched at all.
CountingAnswer count_ranks(predict::Planning& planning, const plan::SearchQuestion& asked,
                           const CountingHooks& hooks);

}  // namespace heddle::search
