// Has operators on a GPU make their results where the plan wants them.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/runtime/device_run.h"

namespace heddle::cuda {

/// Puts an allocator before LibTorch's for GPUs that answers from runtime::Placement. Call once,
/// before any memory is allocated there.
void install_placing_allocator();

/// Zeroed bytes from NCCL's allocator, which all its transports can register; where it gives none,
/// from LibTorch's. Throws c10::Error.
at::Tensor allocate_block(int64_t bytes);

/// Bytes of zeros of the host that the GPU can copy to by itself: exactly so many, where LibTorch
/// rounds up to a power of two. Throws c10::Error.
at::Tensor allocate_pinned(int64_t bytes);

/// The memory of the current GPU in use now, as the host has asked for it.
int64_t bytes_of_device();
/// The most memory of the current GPU at once, all blocks included: in use, and held by LibTorch.
struct DevicePeak {
  int64_t allocated, reserved;
};
DevicePeak peak_of_device();

/// The GPU memory of this process: Heddle's own blocks (allocate_block), LibTorch's, and the blocks
/// that LibTorch keeps for recorded steps.
std::vector<runtime::DeviceBlock> blocks_of_device();

}  // namespace heddle::cuda
