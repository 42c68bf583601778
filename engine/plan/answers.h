// Answers before they become lines of JSON: with the recipe's faults as they were found. No
// LibTorch here.
#pragma once

#include <functional>
#include <variant>
#include <vector>

#include "base/result.h"
#include "engine/plan/document.h"
#include "engine/plan/rank_counts.h"
#include "engine/plan/search_result.h"
#include "engine/recipe/parse.h"

namespace heddle::plan {

/// A plan; or the recipe's faults; or why it cannot be planned.
using PlanAnswer = std::variant<Document, std::vector<recipe::Fault>, Error>;
/// The result; or the faults of the recipe or the fixed keys; or why nothing can be searched.
using SearchAnswer = std::variant<SearchResult, std::vector<recipe::Fault>, Error>;
using CountingAnswer = std::variant<RankCounts, std::vector<recipe::Fault>, Error>;

/// How a search is followed and ended.
template <typename Found>
struct Hooks {
  std::function<bool()> cancelled = [] { return false; };  // asked between plans
  /// The result so far, and the share of the work that is done, 0 to 1.
  std::function<void(const Found&, double)> progress = [](const Found&, double) {};
};

}  // namespace heddle::plan
