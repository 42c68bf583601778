// Runs CUDA kernels that were compiled as host code: blocks one after the other, the threads of a
// block as fibers that change places at barriers and shuffles only. Not thread safe.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heddle::emulator {

/// Which of a block's threads run first between two barriers: what is missing a barrier gives
/// another result in another order.
enum class Order : uint8_t { ascending, descending };
void set_order(Order order);

/// A launch, as it was asked for.
struct Launch {
  dim3 grid, block;
};

/// The launches of `work`, which do not run.
std::vector<Launch> launches_of(const std::function<void()>& work);

/// Runs `kernel` once for each thread of each block. Throws std::logic_error where threads of a
/// block wait for different things (a barrier that not all reach is undefined in CUDA too), and
/// what a thread throws.
void run(const Launch& launch, const std::function<void()>& kernel);

/// Where the running thread is.
struct Position {
  dim3 thread, block, block_size, grid_size;
};
extern Position position;

/// Blocks the running thread until all threads of the block, or of its warp, are here.
void wait_for_block();
void wait_for_warp();

/// Gives `value` to the warp, and has what lane `from` gave.
uint64_t exchange(uint64_t value, unsigned from);
/// A bit for each lane of the warp: whether `value` was true there.
unsigned ballot(bool value);

}  // namespace heddle::emulator
