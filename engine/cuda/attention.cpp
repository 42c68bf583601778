#include "engine/cuda/attention.h"

#include <ATen/cuda/CUDAContext.h>
#include <ATen/ops/_cudnn_attention_backward.h>
#include <ATen/ops/_cudnn_attention_forward.h>
#include <ATen/ops/_flash_attention_backward.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAException.h>

#include "engine/cuda/attention_choice.h"
#include "engine/kernels/composite.h"
#include "engine/kernels/documents.h"
#include "engine/kernels/launch.h"

namespace heddle::cuda {
namespace {

using at::Tensor;
namespace composite = kernels::composite;
namespace launch = kernels::cuda;

AttentionKernel kernel_for(const Tensor& q, const Tensor& k, const Optional& first,
                           const Optional& starts) {
  return attention_kernel({.type = q.scalar_type(),
                           .queries = q.size(1),
                           .keys = k.size(1),
                           .head_dim = q.size(3),
                           .ranges = first.has_value(),
                           .pieces = starts.has_value(),
                           .major = at::cuda::getCurrentDeviceProperties()->major});
}

// [B, S, H, D] → [B, H, S, D], as cuDNN's takes it; the memory stays.
Tensor heads_first(const Tensor& x) { return x.transpose(1, 2); }

// Without dropout nothing reads it, but it must be a tensor.
Tensor no_seed(const Tensor& like) { return at::empty({}, like.options().dtype(at::kLong)); }

// [B, S, H, D] → [B·S, H, D].
Tensor flat(const Tensor& x) { return x.view({x.size(0) * x.size(1), x.size(2), x.size(3)}); }

launch::AttentionShape shape_of(const Tensor& q, const Tensor& k, double scale) {
  return {.tokens = q.size(0) * q.size(1),
          .s = q.size(1),
          .heads = q.size(2),
          .kv_heads = k.size(2),
          .d = q.size(3),
          .scale = static_cast<float>(scale)};
}

// Segments of all sequences, one after the other: where each begins, and what find_documents says
// of them.
struct Documents {
  Tensor first, starts, found;

  Documents(const Tensor& q, const Optional& first_key, const Optional& last_key)
      : first(first_key->contiguous()),
        starts(at::empty({q.size(0) * launch::kDocuments + 1}, q.options().dtype(at::kInt))),
        found(at::empty({2}, q.options().dtype(at::kInt))) {
    const Tensor last = last_key->contiguous();
    launch::find_documents(first.const_data_ptr<int64_t>(), last.const_data_ptr<int64_t>(),
                           q.size(0), q.size(1), q.size(0) * launch::kDocuments,
                           starts.mutable_data_ptr<int32_t>(), found.mutable_data_ptr<int32_t>(),
                           c10::cuda::getCurrentCUDAStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }

  // The host need not wait to hear of it: the loss is not finite, and the step names attention.
  void spoil_unless_valid(Tensor& out) const {
    launch::spoil_unless(found.const_data_ptr<int32_t>(), launch::Type::bf16,
                         out.mutable_data_ptr(), out.numel(), c10::cuda::getCurrentCUDAStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }
};

std::tuple<Tensor, Tensor> by_documents(const Tensor& q, const Tensor& k, const Tensor& v,
                                        const Optional& first, const Optional& last, double scale) {
  const Documents documents(q, first, last);
  auto result =
      at::_flash_attention_forward(flat(q), flat(k), flat(v), documents.starts, documents.starts,
                                   q.size(1), k.size(1), 0.0, true, false, scale);
  Tensor out = std::get<0>(result).view(q.sizes()), by_head = std::get<1>(result);
  launch::short_documents(launch::Type::bf16, shape_of(q, k, scale), q.const_data_ptr(),
                          k.const_data_ptr(), v.const_data_ptr(),
                          documents.first.const_data_ptr<int64_t>(),
                          documents.found.const_data_ptr<int32_t>(), out.mutable_data_ptr(),
                          by_head.mutable_data_ptr<float>(), c10::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  documents.spoil_unless_valid(out);
  const Tensor logsumexp = by_head.view({q.size(2), q.size(0), q.size(1)});
  return {out, logsumexp.transpose(0, 1).contiguous()};
}

std::tuple<Tensor, Tensor, Tensor> by_documents_backward(const Tensor& dout, const Tensor& q,
                                                         const Tensor& k, const Tensor& v,
                                                         const Tensor& out, const Tensor& logsumexp,
                                                         const Optional& first,
                                                         const Optional& last, double scale) {
  const Documents documents(q, first, last);
  const Tensor by_head =
      logsumexp.transpose(0, 1).reshape({q.size(2), q.size(0) * q.size(1)}).contiguous();
  auto [dq, dk, dv] = at::_flash_attention_backward(
      flat(dout), flat(q), flat(k), flat(v), flat(out), by_head, documents.starts, documents.starts,
      q.size(1), k.size(1), 0.0, true, {}, {}, scale);
  launch::short_documents_backward(
      launch::Type::bf16, shape_of(q, k, scale), dout.const_data_ptr(), q.const_data_ptr(),
      k.const_data_ptr(), v.const_data_ptr(), out.const_data_ptr(), by_head.const_data_ptr<float>(),
      documents.first.const_data_ptr<int64_t>(), documents.found.const_data_ptr<int32_t>(),
      dq.mutable_data_ptr(), dk.mutable_data_ptr(), dv.mutable_data_ptr(),
      c10::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return {dq.view(q.sizes()), dk.view(k.sizes()), dv.view(v.sizes())};
}

}  // namespace

std::tuple<Tensor, Tensor> attention(const Tensor& q_in, const Tensor& k_in, const Tensor& v_in,
                                     const Optional& first, const Optional& last,
                                     const Optional& starts, double scale) {
  const Tensor q = q_in.contiguous(), k = k_in.contiguous(), v = v_in.contiguous();
  switch (kernel_for(q, k, first, starts)) {
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
    case AttentionKernel::flash_documents:
      return by_documents(q, k, v, first, last, scale);
    case AttentionKernel::composite:
      break;
  }
  return composite::attention(q, k, v, first, last, starts, scale);
}

std::tuple<Tensor, Tensor, Tensor> attention_backward(const Tensor& dout_in, const Tensor& q_in,
                                                      const Tensor& k_in, const Tensor& v_in,
                                                      const Tensor& out_in, const Tensor& logsumexp,
                                                      const Optional& first, const Optional& last,
                                                      const Optional& starts, double scale) {
  const Tensor dout = dout_in.contiguous(), q = q_in.contiguous(), k = k_in.contiguous(),
               v = v_in.contiguous(), out = out_in.contiguous();
  switch (kernel_for(q, k, first, starts)) {
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
    case AttentionKernel::flash_documents:
      return by_documents_backward(dout, q, k, v, out, logsumexp, first, last, scale);
    case AttentionKernel::composite:
      break;
  }
  return composite::attention_backward(dout, q, k, v, out, logsumexp, first, last, starts, scale);
}

}  // namespace heddle::cuda
