// The table of parameters.
#pragma once

#include <vector>

#include "engine/holdings/parameter.h"
#include "engine/recipe/layout.h"
#include "engine/recipe/recipe.h"

namespace heddle::holdings {

/// All parameters of a resolved recipe, in the order in which forward reads them. With tied
/// embeddings `output` is the last stage's copy, or without a pipeline missing.
std::vector<Parameter> parameters_of(const recipe::Recipe& recipe, const recipe::Layout& layout);

/// The rows of these parameters.
std::vector<Parameter> parameters_of(const recipe::Recipe& recipe, const recipe::Layout& layout,
                                     const std::vector<recipe::Parameter>& parameters);

/// All parameters of a model, as a rank that is alone holds them.
std::vector<Parameter> parameters_of(const recipe::Model& model);

}  // namespace heddle::holdings
