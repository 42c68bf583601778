// Which of LibTorch's attention kernels can take a call.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>

namespace heddle::cuda {

enum class AttentionKernel : uint8_t { cudnn, flash, composite };

/// What a kernel asks of a call.
struct AttentionCall {
  c10::ScalarType type;
  int64_t queries, heads, head_dim;
  int major;  // of the GPU's compute capability
};

/// cuDNN's is the fastest on Hopper and later; flash attention (arXiv 2307.08691) needs Ampere;
/// both compute in bf16 alone. The composite takes everything, in O(S²) memory.
inline AttentionKernel attention_kernel(const AttentionCall& call) {
  const bool halves = call.type == c10::kBFloat16 && call.head_dim % 8 == 0;
  if (halves && call.major >= 9 && call.head_dim <= 128 && call.queries > 1)
    return AttentionKernel::cudnn;
  if (halves && call.major >= 8 && call.head_dim <= 256 && call.queries > 1)
    return AttentionKernel::flash;
  return AttentionKernel::composite;
}

}  // namespace heddle::cuda
