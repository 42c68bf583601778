// What the engine asks of libheddle_cuda.so, looked up by name after dlopen. Loading it registers
// the CUDA kernels of Heddle's operators.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace heddle::cuda {

/// "heddle_cuda_use_device": makes this process's GPU current. Returns the number of GPUs, 0 if
/// there is none or the driver is too old.
using UseDevice = int (*)(int local_rank);
inline constexpr const char* kUseDevice = "heddle_cuda_use_device";

/// "heddle_cuda_make_group": an NCCL group. Throws c10::Error.
using MakeGroup = c10::intrusive_ptr<c10d::Backend> (*)(
    const c10::intrusive_ptr<c10d::Store>& store, int rank, int size);
inline constexpr const char* kMakeGroup = "heddle_cuda_make_group";

}  // namespace heddle::cuda
