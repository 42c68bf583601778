#include "engine/cuda/attention.h"

#include <ATen/cuda/CUDAContext.h>
#include <ATen/ops/_cudnn_attention_backward.h>
#include <ATen/ops/_cudnn_attention_forward.h>
#include <ATen/ops/_flash_attention_backward.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/empty.h>

#include "engine/cuda/attention_choice.h"
#include "engine/kernels/composite.h"

namespace heddle::cuda {
namespace {

using at::Tensor;
namespace composite = kernels::composite;

AttentionKernel kernel_for(const Tensor& q) {
  return attention_kernel({q.scalar_type(), q.size(1), q.size(2), q.size(3),
                           at::cuda::getCurrentDeviceProperties()->major});
}

// [B, S, H, D] → [B, H, S, D], as cuDNN's takes it; the memory stays.
Tensor heads_first(const Tensor& x) { return x.transpose(1, 2); }

// Without dropout nothing reads it, but it must be a tensor.
Tensor no_seed(const Tensor& like) { return at::empty({}, like.options().dtype(at::kLong)); }

}  // namespace

std::tuple<Tensor, Tensor> attention(const Tensor& q_in, const Tensor& k_in, const Tensor& v_in,
                                     double scale) {
  const Tensor q = q_in.contiguous(), k = k_in.contiguous(), v = v_in.contiguous();
  switch (kernel_for(q)) {
    case AttentionKernel::cudnn: {
      auto result =
          at::_cudnn_attention_forward(heads_first(q), heads_first(k), heads_first(v), {}, {}, {},
                                       q.size(1), k.size(1), true, 0.0, true, false, scale);
      const Tensor& logsumexp = std::get<1>(result);
      return {heads_first(std::get<0>(result)), logsumexp.view({q.size(0), q.size(2), q.size(1)})};
    }
    case AttentionKernel::flash: {
      auto result = at::_flash_attention_forward(q, k, v, {}, {}, q.size(1), k.size(1), 0.0, true,
                                                 false, scale);
      return {std::get<0>(result), std::get<1>(result)};
    }
    case AttentionKernel::composite:
      break;
  }
  return composite::attention(q, k, v, scale);
}

std::tuple<Tensor, Tensor, Tensor> attention_backward(const Tensor& dout_in, const Tensor& q_in,
                                                      const Tensor& k_in, const Tensor& v_in,
                                                      const Tensor& out_in, const Tensor& logsumexp,
                                                      double scale) {
  const Tensor dout = dout_in.contiguous(), q = q_in.contiguous(), k = k_in.contiguous(),
               v = v_in.contiguous(), out = out_in.contiguous();
  switch (kernel_for(q)) {
    case AttentionKernel::cudnn: {
      const Tensor seed = no_seed(q);
      auto [dq, dk, dv] = at::_cudnn_attention_backward(
          heads_first(dout), heads_first(q), heads_first(k), heads_first(v), heads_first(out),
          logsumexp.unsqueeze(-1), seed, seed, {}, {}, {}, q.size(1), k.size(1), 0.0, true, scale);
      return {heads_first(dq), heads_first(dk), heads_first(dv)};
    }
    case AttentionKernel::flash:
      return at::_flash_attention_backward(dout, q, k, v, out, logsumexp, {}, {}, q.size(1),
                                           k.size(1), 0.0, true, {}, {}, scale);
    case AttentionKernel::composite:
      break;
  }
  return composite::attention_backward(dout, q, k, v, out, logsumexp, scale);
}

}  // namespace heddle::cuda
