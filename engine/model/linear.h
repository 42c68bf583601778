// x·Wᵀ.
#pragma once

#include <ATen/core/Tensor.h>

namespace heddle::model {

/// x [n, in], weight [out, in] → [n, out]. `x` becomes what the next linear layer is to read, the
/// same numbers: the product that makes the gradient of x then adds to what that layer's made.
/// Nothing but linear layers may read it after this.
at::Tensor linear(at::Tensor& x, const at::Tensor& weight);

}  // namespace heddle::model
