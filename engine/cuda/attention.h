// Attention on a GPU: heddle::attention and its backward by LibTorch's kernels.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace heddle::cuda {

std::tuple<at::Tensor, at::Tensor> attention(const at::Tensor& q, const at::Tensor& k,
                                             const at::Tensor& v, double scale);
std::tuple<at::Tensor, at::Tensor, at::Tensor> attention_backward(
    const at::Tensor& dout, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const at::Tensor& out, const at::Tensor& logsumexp, double scale);

}  // namespace heddle::cuda
