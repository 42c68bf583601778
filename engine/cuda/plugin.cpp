// libheddle_cuda.so: GPUs for the engine.
#include <ATen/Context.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include "engine/cuda/cuda_run.h"
#include "engine/cuda/nccl_backend.h"
#include "engine/cuda/placing_allocator.h"
#include "engine/cuda/staged_backend.h"
#include "engine/runtime/cuda_plugin.h"

using namespace heddle;

extern "C" {

runtime::plugin::UsedDevice heddle_cuda_use_device(int local_rank, bool shared) {
  const int count = c10::cuda::device_count();
  if (count == 0 || (local_rank >= count && !shared)) return {count, -1};
  const int index = local_rank % count;
  c10::cuda::set_device(static_cast<c10::DeviceIndex>(index));
  // A step can be recorded on any stream but the default one.
  c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromPool());
  at::globalContext().lazyInitDevice(c10::kCUDA);
  cuda::install_placing_allocator();
  // For this thread and stream: made in the middle of a step they could be taken for a result.
  at::cuda::getCurrentCUDABlasHandle();
  at::cuda::getCUDABlasLtWorkspace();
  return {count, index};
}

runtime::DeviceProperties heddle_cuda_properties(int index) {
  constexpr int kFirstWithEightBits = 89;  // of compute capabilities: Ada
  const cudaDeviceProp& of = *at::cuda::getDeviceProperties(static_cast<c10::DeviceIndex>(index));
  size_t free = 0, total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return {.multiprocessors = of.multiProcessorCount,
          .memory_bytes = static_cast<int64_t>(total),
          .cache_bytes = of.l2CacheSize,
          .eight_bits = 10 * of.major + of.minor >= kFirstWithEightBits};
}

c10::intrusive_ptr<c10d::Backend> heddle_cuda_make_group(
    const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
    const transport::GroupOptions& options) {
  if (options.through_host)
    return c10::make_intrusive<cuda::StagedBackend>(store, rank, size, options);
  return c10::make_intrusive<cuda::NcclBackend>(store, rank, size, options);
}

std::unique_ptr<runtime::DeviceRun> heddle_cuda_make_run() { return cuda::make_cuda_run(); }

int64_t heddle_cuda_free_bytes() {
  size_t free = 0, total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return static_cast<int64_t>(free);
}

at::Tensor heddle_cuda_allocate_pinned(int64_t bytes) { return cuda::allocate_pinned(bytes); }

at::Tensor heddle_cuda_allocate(int64_t bytes) { return cuda::allocate_block(bytes); }

}  // extern "C"
