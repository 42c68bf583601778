// Heddle's operators put together from LibTorch's: for devices that have no kernel of our own yet.
// Same shapes and results as operators.h; no gradients (those are operators of their own).
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>
#include <vector>

#include "engine/kernels/operators.h"

namespace heddle::kernels::composite {

std::tuple<at::Tensor, at::Tensor> rms_norm(const at::Tensor& x, const at::Tensor& weight,
                                            double eps);
std::tuple<at::Tensor, at::Tensor> rms_norm_backward(const at::Tensor& dy, const at::Tensor& x,
                                                     const at::Tensor& weight,
                                                     const at::Tensor& rstd);
at::Tensor rope(const at::Tensor& x, const at::Tensor& table, const at::Tensor& positions,
                bool inverse);
using Optional = std::optional<at::Tensor>;
std::tuple<at::Tensor, at::Tensor> attention(const at::Tensor& q, const at::Tensor& k,
                                             const at::Tensor& v, const Optional& first_key,
                                             const Optional& last_key, const Optional& key_starts,
                                             double scale);
std::tuple<at::Tensor, at::Tensor, at::Tensor> attention_backward(
    const at::Tensor& dout, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const at::Tensor& out, const at::Tensor& logsumexp, const Optional& first_key,
    const Optional& last_key, const Optional& key_starts, double scale);
std::tuple<at::Tensor, at::Tensor> merge_attention(const at::Tensor& out_a, const at::Tensor& lse_a,
                                                   const at::Tensor& out_b,
                                                   const at::Tensor& lse_b);
at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up);
std::tuple<at::Tensor, at::Tensor> swiglu_backward(const at::Tensor& dout, const at::Tensor& gate,
                                                   const at::Tensor& up);
std::tuple<at::Tensor, at::Tensor> cross_entropy(const at::Tensor& logits,
                                                 const at::Tensor& labels);
at::Tensor cross_entropy_backward(const at::Tensor& dloss, const at::Tensor& logits,
                                  const at::Tensor& labels, const at::Tensor& logsumexp);
void accumulate_(at::Tensor sum, const at::Tensor& value);
std::vector<at::Tensor> squared_norms(at::TensorList tensors);
at::Tensor total_norm(at::TensorList squared_norms);
at::Tensor clip_factor(const at::Tensor& norm, double max_norm);

}  // namespace heddle::kernels::composite
