// Tensors one behind the other.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace heddle::kernels {

/// Parts one behind the other along dim 0: [n, …] and so on → [sum of n, …]. In a planned step each
/// is made where it belongs, if it can be (passes/join.h), and nothing is copied.
at::Tensor join(const std::vector<at::Tensor>& parts);

}  // namespace heddle::kernels
