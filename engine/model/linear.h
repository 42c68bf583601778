// x·Wᵀ.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/model/parameter.h"
#include "engine/recipe/recipe.h"

namespace heddle::model {

/// x [n, in], weight [out, in] → [n, out]. `x` becomes what the next linear layer is to read, the
/// same numbers: the product that makes the gradient of x then adds to what that layer's made.
/// Nothing but linear layers may read it after this.
///
/// `float8`: all is bf16, and this product and the two for gradients multiply matrices in 8 bits
/// (torchao's recipes): x, weight and gradient are converted for each, with scales of this rank's
/// part: no ranks meet for a scale, and it is at least as fine as torchao's, which over
/// tensor-parallel ranks is the whole tensor's. A weight that was gathered in 8 bits is taken as it
/// came, with the same bits. With one scale a tensor, gradients are e5m2, all else is e4m3.
at::Tensor linear(at::Tensor& x, const Weight& weight,
                  recipe::Float8 float8 = recipe::Float8::none);

}  // namespace heddle::model
