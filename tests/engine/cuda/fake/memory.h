// Device memory: the host's. Every allocation is counted and noted.
#pragma once

#include <cstddef>

namespace fake {

/// The block at an address; null where nothing was allocated.
struct Block {
  char* base = nullptr;
  size_t bytes = 0;
  bool on_device = false;
  int device = 0;  // that was current
};
Block block_at(const void* address);

/// Zeroed memory of the device; null where there is not so much (FAKE_CUDA_MEMORY, in bytes).
void* allocate(size_t bytes, const char* call);
/// Whether there was such a block.
bool release(void* address);

}  // namespace fake
