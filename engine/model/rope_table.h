// The rotary embedding's angles.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/recipe/recipe.h"

namespace heddle::model {

/// fp32 [positions, D/2, 2]: cos and sin of position · theta^(−2i/D), with the model's scaling
/// where it has one.
at::Tensor make_rope_table(const recipe::Model& model, int64_t positions);

}  // namespace heddle::model
