// Which of LibTorch's attention kernels can take a call.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>

namespace heddle::cuda {

enum class AttentionKernel : uint8_t { cudnn, flash, flash_documents, composite };

/// What a kernel asks of a call.
struct AttentionCall {
  c10::ScalarType type;
  int64_t queries, keys, head_dim;
  bool ranges;  // first and last keys are given
  bool pieces;  // key starts are
  int major;    // of the GPU's compute capability
};

/// cuDNN's is the fastest on Hopper and later; flash attention (arXiv 2307.08691) needs Ampere, and
/// takes documents as sequences of their own lengths; both compute in bf16 alone. The composite
/// takes everything, in O(S²) memory.
inline AttentionKernel attention_kernel(const AttentionCall& call) {
  const bool fast = call.type == c10::kBFloat16 && call.head_dim % 8 == 0 && call.head_dim <= 256 &&
                    call.major >= 8 && call.queries > 1;
  if (!fast || call.pieces || call.queries != call.keys) return AttentionKernel::composite;
  if (call.ranges) return AttentionKernel::flash_documents;
  return call.major >= 9 && call.head_dim <= 128 ? AttentionKernel::cudnn : AttentionKernel::flash;
}

}  // namespace heddle::cuda
