#include "engine/cuda/placing_allocator.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "engine/cuda/forwarding_allocator.h"
#include "engine/runtime/arena.h"
#include "engine/runtime/placement.h"

namespace heddle::cuda {
namespace {

// The blocks that allocate_block has given out: bytes by address.
struct Blocks {
  std::mutex mutex;
  std::map<void*, int64_t> all;

  int64_t bytes() {
    const std::lock_guard lock(mutex);
    int64_t sum = 0;
    for (const auto& [address, each] : all) sum += each;
    return sum;
  }
};
Blocks& blocks() {
  static auto* every = new Blocks();
  return *every;
}

void keep(void*) {}

class PlacingAllocator final : public ForwardingAllocator {
 public:
  using ForwardingAllocator::ForwardingAllocator;

  c10::DataPtr allocate(size_t bytes) override {
    if (std::byte* address = runtime::place(bytes, c10::kCUDA))
      return {address, address, &keep, c10::Device(c10::kCUDA, c10::cuda::current_device())};
    c10::DataPtr data = next_.allocate(bytes);
    runtime::placed_elsewhere(data.get(), bytes, c10::kCUDA);
    return data;
  }
  // Memory given back by address alone is never in an arena: raw_alloc is not placed.
};

}  // namespace

void install_placing_allocator() {
  static const bool installed = [] {
    static auto* allocator = new PlacingAllocator(*caching::get());
    caching::allocator.store(allocator);
    c10::SetAllocator(c10::kCUDA, allocator, 1);
    return true;
  }();
  (void)installed;
}

at::Tensor allocate_block(int64_t bytes) {
  const c10::Device device(c10::kCUDA, c10::cuda::current_device());
  const auto options = at::TensorOptions(at::kByte).device(device);
  void* memory = nullptr;
  if (ncclMemAlloc(&memory, static_cast<size_t>(bytes)) != ncclSuccess)
    return at::zeros({bytes}, options);
  {
    const std::lock_guard lock(blocks().mutex);
    blocks().all[memory] = bytes;
  }
  const auto give_back = [](void* address) {
    {
      const std::lock_guard lock(blocks().mutex);
      blocks().all.erase(address);
    }
    (void)ncclMemFree(
        address);  // the process ends, or the next allocation fails with its own error
  };
  return at::from_blob(memory, {bytes}, give_back, options, device).zero_();
}

int64_t bytes_of_device() {
  const auto stats = caching::getDeviceStats(c10::cuda::current_device());
  const auto all = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  return blocks().bytes() + stats.allocated_bytes[all].current;
}

DevicePeak peak_of_device() {
  const auto stats = caching::getDeviceStats(c10::cuda::current_device());
  const auto all = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  const int64_t own = blocks().bytes();
  return {own + stats.allocated_bytes[all].peak, own + stats.reserved_bytes[all].peak};
}

std::vector<runtime::DeviceBlock> blocks_of_device() {
  std::vector<runtime::DeviceBlock> found;
  {
    const std::lock_guard lock(blocks().mutex);
    for (const auto& [address, bytes] : blocks().all) found.push_back({"heddle", bytes, bytes});
  }
  for (const auto& segment : caching::snapshot({0, 0}, false).segments)
    found.push_back(
        {segment.owner_private_pool_id == c10::MempoolId_t{0, 0} ? "libtorch" : "recorded steps",
         static_cast<int64_t>(segment.total_size), static_cast<int64_t>(segment.allocated_size)});
  return found;
}

at::Tensor allocate_pinned(int64_t bytes) {
  void* memory = nullptr;
  C10_CUDA_CHECK(cudaHostAlloc(&memory, static_cast<size_t>(std::max<int64_t>(bytes, 1)),
                               cudaHostAllocDefault));
  std::memset(memory, 0, static_cast<size_t>(bytes));
  return at::from_blob(
      memory, {bytes}, [](void* address) { C10_CUDA_CHECK_WARN(cudaFreeHost(address)); },
      at::TensorOptions(at::kByte));
}

}  // namespace heddle::cuda
