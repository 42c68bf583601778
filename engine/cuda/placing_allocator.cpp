#include "engine/cuda/placing_allocator.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "engine/cuda/forwarding_allocator.h"
#include "engine/runtime/arena.h"
#include "engine/runtime/placement.h"

namespace heddle::cuda {
namespace {

std::atomic<int64_t> block_bytes = 0;

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
  // What is given back by address alone never lies in an arena: raw_alloc is not placed.
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
  block_bytes += bytes;
  const auto give_back = [bytes](void* address) {
    (void)ncclMemFree(
        address);  // the process ends, or the next allocation fails with its own error
    block_bytes -= bytes;
  };
  return at::from_blob(memory, {bytes}, give_back, options, device).zero_();
}

DevicePeak peak_of_device() {
  const auto stats = caching::getDeviceStats(c10::cuda::current_device());
  const auto all = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  return {block_bytes + stats.allocated_bytes[all].peak,
          block_bytes + stats.reserved_bytes[all].peak};
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
