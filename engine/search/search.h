// The search for the layout of a recipe that trains fastest on given hardware.
#pragma once

#include "base/result.h"
#include "engine/plan/answers.h"
#include "engine/predict/planning.h"
#include "engine/search/space.h"

namespace heddle::search {

using Hooks = plan::Hooks<plan::SearchResult>;

/// Judges every layout by its bounds, plans the promising ones as `plan` does, and of these gives
/// the front of memory against throughput, and why the obvious ones are not on it. Deterministic
/// but for `seconds`; cancelled, it returns the result so far. `given`: the recipe as it was,
/// resolved. What `planning` remembers is not planned again. Errors: unknown hardware; no layout is
/// possible.
Result<plan::SearchResult> search(predict::Planning& planning, const Question& question,
                                  const recipe::Recipe& given, const Hooks& hooks);

}  // namespace heddle::search
