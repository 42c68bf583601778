// The search for the layout of a recipe that trains fastest on given hardware.
#pragma once

#include <functional>

#include "base/result.h"
#include "engine/plan/search_result.h"
#include "engine/search/space.h"
#include "engine/step/capture.h"

namespace heddle::search {

struct Hooks {
  std::function<bool()> cancelled = [] { return false; };  // asked between plans
  /// After each plan: the result so far, and the share of the search that is done, 0 to 1.
  std::function<void(const plan::SearchResult&, double)> progress = [](const auto&, double) {};
};

/// Judges every layout by its bounds, plans the promising ones as `plan` does, and of these gives
/// the front of memory against throughput, and why the obvious ones are not on it. Deterministic
/// but for `seconds`; cancelled, it returns the result so far. `given`: the recipe as it was,
/// resolved. Errors: unknown hardware; no layout is possible.
Result<plan::SearchResult> search(const Question& question, const recipe::Recipe& given,
                                  const Hooks& hooks);

}  // namespace heddle::search
