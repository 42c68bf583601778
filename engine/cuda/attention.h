// Attention on a GPU: heddle::attention and its backward by LibTorch's kernels.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace heddle::cuda {

using Optional = std::optional<at::Tensor>;

/// First and last keys must be documents where flash attention takes the call, of a sequence or of
/// parts of one: anything else gives NaN.
std::tuple<at::Tensor, at::Tensor> attention(const at::Tensor& q, const at::Tensor& k,
                                             const at::Tensor& v, const Optional& first_key,
                                             const Optional& last_key, const Optional& key_starts,
                                             const Optional& sight, double scale);
std::tuple<at::Tensor, at::Tensor, at::Tensor> attention_backward(
    const at::Tensor& dout, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const at::Tensor& out, const at::Tensor& logsumexp, const Optional& first_key,
    const Optional& last_key, const Optional& key_starts, const Optional& sight, double scale);

}  // namespace heddle::cuda
