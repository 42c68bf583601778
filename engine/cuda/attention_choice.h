// Which of LibTorch's attention kernels can take a call.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/ArrayRef.h>

#include <cstdint>

#include "engine/kernels/attention_blocks.h"

namespace heddle::cuda {

enum class AttentionKernel : uint8_t { cudnn, flash, flash_documents, pieces, composite };

/// The properties of a call that a kernel depends on.
struct AttentionCall {
  c10::ScalarType type;
  int64_t queries, keys, head_dim;
  bool ranges;            // first and last keys are given
  int64_t pieces;         // of the keys, where they do not come in order; else 0
  int major;              // of the GPU's compute capability
  bool in_order = false;  // backward must sum in one order
};

/// cuDNN's is the fastest on Hopper and later; flash attention (arXiv 2307.08691) needs Ampere, and
/// takes documents as sequences of their own lengths, and alone can sum in one order; both compute
/// in bf16 alone. Long sequences
/// and keys from several ranks they take in pieces (kernels/attention_pieces.h). The composite
/// takes everything, some rows at a time.
inline AttentionKernel attention_kernel(const AttentionCall& call) {
  const bool fast =
      kernels::flash_takes(call.type, call.head_dim) && call.major >= 8 && call.queries > 1;
  if (!fast || !kernels::can_be_cut(call.queries, call.keys, call.pieces))
    return AttentionKernel::composite;
  if (kernels::is_cut(call.queries, call.pieces)) return AttentionKernel::pieces;
  if (call.ranges) return AttentionKernel::flash_documents;
  return call.major >= 9 && call.head_dim <= 128 && !call.in_order ? AttentionKernel::cudnn
                                                                   : AttentionKernel::flash;
}

/// Whether a kernel's logsumexp has a number for each query of each head of each sequence, in this
/// order: with or without a last dimension of one.
inline bool is_logsumexp(at::IntArrayRef sizes, int64_t batch, int64_t heads, int64_t queries) {
  const at::IntArrayRef given = sizes.size() == 4 && sizes.back() == 1 ? sizes.slice(0, 3) : sizes;
  return given.equals({batch, heads, queries});
}
/// The same of sequences one after the other: [heads, tokens].
inline bool is_joined_logsumexp(at::IntArrayRef sizes, int64_t heads, int64_t tokens) {
  return sizes.equals({heads, tokens});
}

}  // namespace heddle::cuda
