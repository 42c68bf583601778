// The plan that a run was predicted to follow, for its log.
#pragma once

#include <string>

#include "base/result.h"
#include "engine/cost/rates.h"
#include "engine/plan/document.h"
#include "engine/recipe/recipe.h"

namespace heddle::predict {

/// The plan of all ranks, by the rates that they have agreed on; with timelines. Its hash is the
/// one of the plan as rank 0 would make it: `executed` where the step is predicted from parts.
Result<plan::Document> plan_of_run(const recipe::Recipe& recipe, const cost::Rates& rates,
                                   const std::string& executed);

}  // namespace heddle::predict
