// From a recipe to the plan of its step.
#pragma once

#include "base/result.h"
#include "engine/passes/pipeline.h"
#include "engine/recipe/recipe.h"

namespace heddle::train {

/// What the recipe asks of the passes. `captured`: the recipe's step.
passes::PlanOptions plan_options(const recipe::Recipe& recipe, const graph::Graph& captured);

/// The planned step. Errors: what the recipe asks for cannot be met.
Result<passes::Plan> plan_step(const recipe::Recipe& recipe, graph::Graph captured,
                               const std::string& after = "");

}  // namespace heddle::train
