#include "engine/cuda/placing_allocator.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAFunctions.h>
#include <nccl.h>

#include <atomic>

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
    if (std::byte* address = runtime::place(bytes, false))
      return {address, address, &keep, c10::Device(c10::kCUDA, c10::cuda::current_device())};
    c10::DataPtr data = next_.allocate(bytes);
    runtime::placed_elsewhere(data.get(), bytes);
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

int64_t peak_device_bytes() {
  const auto stats = caching::getDeviceStats(c10::cuda::current_device());
  const auto all = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  return block_bytes + stats.reserved_bytes[all].peak;
}

}  // namespace heddle::cuda
