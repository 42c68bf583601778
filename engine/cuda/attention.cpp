#include "engine/cuda/attention.h"

#include <ATen/cuda/CUDAContext.h>
#include <ATen/ops/_cudnn_attention_backward.h>
#include <ATen/ops/_cudnn_attention_forward.h>
#include <ATen/ops/_flash_attention_backward.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAException.h>

#include <limits>

#include "engine/cuda/attention_choice.h"
#include "engine/kernels/attention_pieces.h"
#include "engine/kernels/composite.h"
#include "engine/kernels/documents.h"
#include "engine/kernels/launch.h"
#include "engine/runtime/deterministic.h"
#include "engine/runtime/placement.h"

namespace heddle::cuda {
namespace {

using at::Tensor;
using Result = std::tuple<Tensor, Tensor>;
using Gradients = std::tuple<Tensor, Tensor, Tensor>;
namespace composite = kernels::composite;
namespace launch = kernels::cuda;

AttentionKernel kernel_for(const Tensor& q, const Tensor& k, const Optional& first,
                           const Optional& starts) {
  return attention_kernel({.type = q.scalar_type(),
                           .queries = q.size(1),
                           .keys = k.size(1),
                           .head_dim = q.size(3),
                           .ranges = first.has_value(),
                           .pieces = starts ? starts->numel() : 0,
                           .major = at::cuda::getCurrentDeviceProperties()->major,
                           .in_order = runtime::computes_deterministically()});
}

// [B, S, H, D] → [B, H, S, D], as cuDNN's takes it; the memory stays.
Tensor heads_first(const Tensor& x) { return x.transpose(1, 2); }

// Without dropout nothing reads it, but it must be a tensor.
Tensor no_seed(const Tensor& like) { return at::empty({}, like.options().dtype(at::kLong)); }

// [B, S, H, D] → [B·S, H, D].
Tensor flat(const Tensor& x) { return x.view({x.size(0) * x.size(1), x.size(2), x.size(3)}); }

// By whole sequences, each query sees the keys up to its own, or all.
Result by_sequences(AttentionKernel kernel, const Tensor& q, const Tensor& k, const Tensor& v,
                    bool causal, double scale) {
  Tensor out, logsumexp;
  if (kernel == AttentionKernel::cudnn) {
    const auto result =
        at::_cudnn_attention_forward(heads_first(q), heads_first(k), heads_first(v), {}, {}, {},
                                     q.size(1), k.size(1), true, 0.0, causal, false, scale);
    out = heads_first(std::get<0>(result));
    logsumexp = std::get<1>(result);
  } else {
    const auto result = at::_flash_attention_forward(q, k, v, {}, {}, q.size(1), k.size(1), 0.0,
                                                     causal, false, scale);
    out = std::get<0>(result);
    logsumexp = std::get<1>(result);
  }
  TORCH_CHECK(is_logsumexp(logsumexp.sizes(), q.size(0), q.size(2), q.size(1)),
              "this version of LibTorch gives attention's logsumexp as ", logsumexp.sizes(),
              ", not as [B, H, S]");
  return {out, logsumexp.view({q.size(0), q.size(2), q.size(1)})};
}

Gradients by_sequences_backward(AttentionKernel kernel, const Tensor& dout, const Tensor& q,
                                const Tensor& k, const Tensor& v, const Tensor& out,
                                const Tensor& logsumexp, bool causal, double scale) {
  if (kernel != AttentionKernel::cudnn)
    return at::_flash_attention_backward(dout, q, k, v, out, logsumexp, {}, {}, q.size(1),
                                         k.size(1), 0.0, causal, {}, {}, scale);
  const Tensor seed = no_seed(q);
  auto [dq, dk, dv] = at::_cudnn_attention_backward(
      heads_first(dout), heads_first(q), heads_first(k), heads_first(v), heads_first(out),
      logsumexp.unsqueeze(-1), seed, seed, {}, {}, {}, q.size(1), k.size(1), 0.0, causal, scale);
  return {heads_first(dq), heads_first(dk), heads_first(dv)};
}

// By segments of sequences that lie one after the other, where each ends.
struct Ends {
  Tensor queries, keys;  // int32 [segments + 1]
  bool causal;
};

Result by_segments(const Tensor& q, const Tensor& k, const Tensor& v, const Ends& segments,
                   double scale) {
  const auto result =
      at::_flash_attention_forward(flat(q), flat(k), flat(v), segments.queries, segments.keys,
                                   q.size(1), k.size(1), 0.0, segments.causal, false, scale);
  const Tensor& logsumexp = std::get<1>(result);
  TORCH_CHECK(is_joined_logsumexp(logsumexp.sizes(), q.size(2), q.size(0) * q.size(1)),
              "this version of LibTorch gives the logsumexp of joined sequences as ",
              logsumexp.sizes(), ", not as [H, B·S]");
  return {std::get<0>(result).view(q.sizes()), logsumexp};
}

Gradients by_segments_backward(const Tensor& dout, const Tensor& q, const Tensor& k,
                               const Tensor& v, const Tensor& out, const Tensor& by_head,
                               const Ends& segments, double scale) {
  auto [dq, dk, dv] = at::_flash_attention_backward(
      flat(dout), flat(q), flat(k), flat(v), flat(out), by_head, segments.queries, segments.keys,
      q.size(1), k.size(1), 0.0, segments.causal, {}, {}, scale);
  return {dq.view(q.sizes()), dk.view(k.sizes()), dv.view(v.sizes())};
}

// [B, H, S] ↔ [H, B·S].
Tensor joined(const Tensor& logsumexp) {
  return logsumexp.transpose(0, 1)
      .reshape({logsumexp.size(1), logsumexp.size(0) * logsumexp.size(2)})
      .contiguous();
}
Tensor by_sequence(const Tensor& by_head, const Tensor& q) {
  return by_head.view({q.size(2), q.size(0), q.size(1)}).transpose(0, 1).contiguous();
}

launch::AttentionShape shape_of(const Tensor& q, const Tensor& k, double scale) {
  return {.tokens = q.size(0) * q.size(1),
          .s = q.size(1),
          .heads = q.size(2),
          .kv_heads = k.size(2),
          .d = q.size(3),
          .scale = static_cast<float>(scale)};
}

// Documents, in segments of all sequences, one after the other.
struct Documents {
  Tensor first;  // int64 [B, S]
  kernels::Segments segments;

  Ends ends() const { return {segments.starts, segments.starts, true}; }
  const int64_t* first_keys() const { return first.const_data_ptr<int64_t>(); }
  const int32_t* found() const { return segments.found.const_data_ptr<int32_t>(); }

  // The host need not wait to hear of it: the loss is not finite, and the step names attention.
  void spoil_unless_valid(const Tensor& out) const {
    launch::spoil_unless(found(), launch::Type::bf16, out.mutable_data_ptr(), out.numel(),
                         c10::cuda::getCurrentCUDAStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }
};

Result by_documents(const Tensor& q, const Tensor& k, const Tensor& v, const Documents& documents,
                    double scale) {
  const auto [out, by_head] = by_segments(q, k, v, documents.ends(), scale);
  launch::short_documents(launch::Type::bf16, shape_of(q, k, scale), q.const_data_ptr(),
                          k.const_data_ptr(), v.const_data_ptr(), documents.first_keys(),
                          documents.found(), out.mutable_data_ptr(),
                          by_head.mutable_data_ptr<float>(), c10::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  documents.spoil_unless_valid(out);
  return {out, by_sequence(by_head, q)};
}

Gradients by_documents_backward(const Tensor& dout, const Tensor& q, const Tensor& k,
                                const Tensor& v, const Tensor& out, const Tensor& logsumexp,
                                const Documents& documents, double scale) {
  const Tensor by_head = joined(logsumexp);
  const auto [dq, dk, dv] =
      by_segments_backward(dout, q, k, v, out, by_head, documents.ends(), scale);
  launch::short_documents_backward(
      launch::Type::bf16, shape_of(q, k, scale), dout.const_data_ptr(), q.const_data_ptr(),
      k.const_data_ptr(), v.const_data_ptr(), out.const_data_ptr(), by_head.const_data_ptr<float>(),
      documents.first_keys(), documents.found(), dq.mutable_data_ptr(), dk.mutable_data_ptr(),
      dv.mutable_data_ptr(), c10::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return {dq, dk, dv};
}

// The pieces of kernels/attention_pieces.h.
struct Pieces {
  using Scratch = runtime::ReusedScratch;

  static AttentionKernel kernel(const Tensor& q) { return kernel_for(q, q, {}, {}); }
  static Ends ends(const kernels::SeenRange& seen) { return {*seen.queries, *seen.keys, false}; }

  static Result documents(const Tensor& q, const Tensor& k, const Tensor& v,
                          const kernels::OwnKeys& own, double scale) {
    if (!own.first) return by_sequences(kernel(q), q, k, v, true, scale);
    return by_documents(q, k, v, {*own.first, own.segments}, scale);
  }
  static Gradients documents_backward(const Tensor& dout, const Tensor& q, const Tensor& k,
                                      const Tensor& v, const Tensor& out, const Tensor& logsumexp,
                                      const kernels::OwnKeys& own, double scale) {
    if (!own.first)
      return by_sequences_backward(kernel(q), dout, q, k, v, out, logsumexp, true, scale);
    return by_documents_backward(dout, q, k, v, out, logsumexp, {*own.first, own.segments}, scale);
  }
  static Result range(const Tensor& q, const Tensor& k, const Tensor& v,
                      const kernels::SeenRange& seen, double scale) {
    if (!seen.keys) return by_sequences(kernel(q), q, k, v, false, scale);
    const auto [out, by_head] = by_segments(q, k, v, ends(seen), scale);
    // Flash attention has +∞ for a query without keys.
    by_head.masked_fill_(by_head.isposinf(), -std::numeric_limits<double>::infinity());
    return {out, by_sequence(by_head, q)};
  }
  static Gradients range_backward(const Tensor& dout, const Tensor& q, const Tensor& k,
                                  const Tensor& v, const Tensor& out, const Tensor& logsumexp,
                                  const kernels::SeenRange& seen, double scale) {
    if (!seen.keys)
      return by_sequences_backward(kernel(q), dout, q, k, v, out, logsumexp, false, scale);
    return by_segments_backward(dout, q, k, v, out, joined(logsumexp), ends(seen), scale);
  }
};

// For sequences that are not cut.
Documents documents_of(const Tensor& q, const Tensor& k, const Optional& first,
                       const Optional& sight) {
  const kernels::SightNumbers numbers({q.size(0), q.size(1), k.size(1), 0});
  return {first->contiguous(), numbers.segments(*sight)};
}

kernels::PiecedCall in_pieces(const Tensor& q, const Tensor& k, const Tensor& v,
                              const Optional& starts, const Optional& sight, double scale) {
  return {q, k, v, starts ? starts->numel() : 0, sight, scale};
}

}  // namespace

std::tuple<Tensor, Tensor> attention(const Tensor& q_in, const Tensor& k_in, const Tensor& v_in,
                                     const Optional& first, const Optional& last,
                                     const Optional& starts, const Optional& sight, double scale) {
  const Tensor q = q_in.contiguous(), k = k_in.contiguous(), v = v_in.contiguous();
  switch (const AttentionKernel kernel = kernel_for(q, k, first, starts)) {
    case AttentionKernel::cudnn:
    case AttentionKernel::flash:
      return by_sequences(kernel, q, k, v, true, scale);
    case AttentionKernel::flash_documents:
      return by_documents(q, k, v, documents_of(q, k, first, sight), scale);
    case AttentionKernel::pieces:
      return kernels::attention_in_pieces<Pieces>(in_pieces(q, k, v, starts, sight, scale));
    case AttentionKernel::composite:
      break;
  }
  return composite::attention(q, k, v, first, last, starts, scale);
}

std::tuple<Tensor, Tensor, Tensor> attention_backward(const Tensor& dout_in, const Tensor& q_in,
                                                      const Tensor& k_in, const Tensor& v_in,
                                                      const Tensor& out_in, const Tensor& logsumexp,
                                                      const Optional& first, const Optional& last,
                                                      const Optional& starts, const Optional& sight,
                                                      double scale) {
  const Tensor dout = dout_in.contiguous(), q = q_in.contiguous(), k = k_in.contiguous(),
               v = v_in.contiguous(), out = out_in.contiguous();
  switch (const AttentionKernel kernel = kernel_for(q, k, first, starts)) {
    case AttentionKernel::cudnn:
    case AttentionKernel::flash:
      return by_sequences_backward(kernel, dout, q, k, v, out, logsumexp, true, scale);
    case AttentionKernel::flash_documents:
      return by_documents_backward(dout, q, k, v, out, logsumexp, documents_of(q, k, first, sight),
                                   scale);
    case AttentionKernel::pieces:
      return kernels::attention_in_pieces_backward<Pieces>(in_pieces(q, k, v, starts, sight, scale),
                                                           dout, out, logsumexp);
    case AttentionKernel::composite:
      break;
  }
  return composite::attention_backward(dout, q, k, v, out, logsumexp, first, last, starts, scale);
}

}  // namespace heddle::cuda
