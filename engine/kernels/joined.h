// Tensors one after the other, and operators on what products of joined weights make. Shapes as in
// operators.h; F the feed-forward's width.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <tuple>
#include <vector>

namespace heddle::kernels {

/// Parts one after the other along dim 0: [n, …] and so on → [sum of n, …]. In a planned step each
/// is made where it belongs, if it can be (passes/join.h), and nothing is copied.
at::Tensor join(const std::vector<at::Tensor>& parts);

/// Queries, keys and values of heads, of which the first two are turned as `rope` does it:
/// qkv [T, (H + 2 K) D] with H = `heads`, positions of T → q [T, H, D] and k, v [T, K, D].
std::tuple<at::Tensor, at::Tensor, at::Tensor> joined_rope(const at::Tensor& qkv,
                                                           const at::Tensor& table,
                                                           const at::Tensor& positions,
                                                           int64_t heads);

/// swiglu of a row's two halves: [T, 2 F] → [T, F].
at::Tensor joined_swiglu(const at::Tensor& gate_and_up);

}  // namespace heddle::kernels
