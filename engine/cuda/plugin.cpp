// libheddle_cuda.so: GPUs for the engine.
#include "engine/cuda/plugin.h"

#include <ATen/Context.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <stdlib.h>

#include "engine/cuda/cuda_run.h"
#include "engine/cuda/nccl_backend.h"
#include "engine/cuda/placing_allocator.h"
#include "engine/cuda/staged_backend.h"

using namespace heddle;

namespace {

// LibTorch's watchdog ends the process when a collective fails; ours ends the collective, and the
// rank tells what it was.
void leave_errors_to_us() {
  constexpr int kUnlessSet = 0;
  setenv("TORCH_NCCL_ASYNC_ERROR_HANDLING", "0", kUnlessSet);
  setenv("TORCH_NCCL_ENABLE_MONITORING", "0", kUnlessSet);
}

}  // namespace

extern "C" {

cuda::UsedDevice heddle_cuda_use_device(int local_rank, bool shared) {
  const int count = c10::cuda::device_count();
  if (count == 0 || (local_rank >= count && !shared)) return {count, -1};
  const int index = local_rank % count;
  c10::cuda::set_device(static_cast<c10::DeviceIndex>(index));
  // A step can be recorded on any stream but the default one.
  c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromPool());
  leave_errors_to_us();
  at::globalContext().lazyInitDevice(c10::kCUDA);
  cuda::install_placing_allocator();
  return {count, index};
}

c10::intrusive_ptr<c10d::Backend> heddle_cuda_make_group(
    const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
    const transport::GroupOptions& options) {
  if (options.through_host)
    return c10::make_intrusive<cuda::StagedBackend>(store, rank, size, options);
  return c10::make_intrusive<cuda::NcclBackend>(store, rank, size, options);
}

std::unique_ptr<runtime::DeviceRun> heddle_cuda_make_run() { return cuda::make_cuda_run(); }

at::Tensor heddle_cuda_allocate(int64_t bytes) { return cuda::allocate_block(bytes); }

}  // extern "C"
