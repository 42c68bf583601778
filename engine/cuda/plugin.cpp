// libheddle_cuda.so: GPUs for the engine. The same graph on one CUDA stream, collectives by NCCL.
#include "engine/cuda/plugin.h"

#include <c10/cuda/CUDAFunctions.h>
#include <torch/library.h>

#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "engine/kernels/composite.h"

namespace composite = heddle::kernels::composite;

TORCH_LIBRARY_IMPL(heddle, CUDA, library) {
  library.impl("rms_norm", &composite::rms_norm);
  library.impl("rms_norm_backward", &composite::rms_norm_backward);
  library.impl("rope", &composite::rope);
  library.impl("attention", &composite::attention);
  library.impl("attention_backward", &composite::attention_backward);
  library.impl("merge_attention", &composite::merge_attention);
  library.impl("swiglu", &composite::swiglu);
  library.impl("swiglu_backward", &composite::swiglu_backward);
  library.impl("cross_entropy", &composite::cross_entropy);
  library.impl("cross_entropy_backward", &composite::cross_entropy_backward);
  library.impl("accumulate_", &composite::accumulate_);
  library.impl("squared_norms", &composite::squared_norms);
  library.impl("total_norm", &composite::total_norm);
  library.impl("clip_factor", &composite::clip_factor);
  library.impl("adamw_", &composite::adamw_);
}

extern "C" {

int heddle_cuda_use_device(int local_rank) {
  const int count = c10::cuda::device_count();
  if (local_rank < count) c10::cuda::set_device(static_cast<c10::DeviceIndex>(local_rank));
  return count;
}

// Only the engine calls it, built by the same compiler: C linkage is for the name alone.
c10::intrusive_ptr<c10d::Backend> heddle_cuda_make_group(
    const c10::intrusive_ptr<c10d::Store>& store, int rank, int size) {
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, size);
}

}  // extern "C"
