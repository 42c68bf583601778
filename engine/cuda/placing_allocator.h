// Has operators on a GPU make their results where the plan wants them.
#pragma once

#include <ATen/core/Tensor.h>

namespace heddle::cuda {

/// Puts an allocator before LibTorch's for GPUs that answers from runtime::Placement. Call once,
/// before any memory is allocated there.
void install_placing_allocator();

/// Zeroed bytes from NCCL's allocator, which all its transports can register; where it gives none,
/// from LibTorch's. Throws c10::Error.
at::Tensor allocate_block(int64_t bytes);

/// The most memory of the current GPU that LibTorch has held at once, and all blocks.
int64_t peak_device_bytes();

}  // namespace heddle::cuda
