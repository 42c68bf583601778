// The functions of libheddle_cuda.so, which the engine looks up by name after dlopen. Loading
// it registers the CUDA kernels of Heddle's operators. Only the engine calls these, built by the
// same compiler: C linkage is for the names alone.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "engine/runtime/device_properties.h"
#include "engine/runtime/device_run.h"
#include "engine/transport/meeting.h"

namespace heddle::runtime::plugin {

/// "heddle_cuda_use_device": makes this process's GPU current, with a compute stream for this
/// thread, and has its allocator place results. With `shared`, ranks beyond the last GPU begin at
/// the first again.
struct UsedDevice {
  int count;  // of GPUs; 0 if there is none or the driver is too old
  int index;  // this process's; −1: there are too few
};
using UseDevice = UsedDevice (*)(int local_rank, bool shared);
inline constexpr const char* kUseDevice = "heddle_cuda_use_device";

/// "heddle_cuda_build": the build that it is of (base/build_id.h).
using Build = const char* (*)();
inline constexpr const char* kBuild = "heddle_cuda_build";

/// "heddle_cuda_facts": the GPUs of this host, none of which is used for it.
struct GpuFacts {
  int count = 0;
  std::string name = {};   // of the first
  std::string error = {};  // why there is none, where CUDA says so
};
using Facts = GpuFacts (*)();
inline constexpr const char* kFacts = "heddle_cuda_facts";

/// "heddle_cuda_pci_address": of a GPU by its index, as sysfs has it; empty: not known.
using PciAddress = std::string (*)(int index);
inline constexpr const char* kPciAddress = "heddle_cuda_pci_address";

/// "heddle_cuda_properties": of a GPU by its index, which is the current one. Throws c10::Error.
using Properties = DeviceProperties (*)(int index);
inline constexpr const char* kProperties = "heddle_cuda_properties";

/// "heddle_cuda_make_group": an NCCL group. Throws c10::Error.
using MakeGroup =
    c10::intrusive_ptr<c10d::Backend> (*)(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                          int size, const transport::GroupOptions& options);
inline constexpr const char* kMakeGroup = "heddle_cuda_make_group";

/// "heddle_cuda_make_run": what executors ask of the GPU.
using MakeRun = std::unique_ptr<DeviceRun> (*)();
inline constexpr const char* kMakeRun = "heddle_cuda_make_run";

/// "heddle_cuda_free_bytes": of the current GPU's memory, how much nobody has.
using FreeBytes = int64_t (*)();
inline constexpr const char* kFreeBytes = "heddle_cuda_free_bytes";

/// "heddle_cuda_allocate_pinned": cuda::allocate_pinned.
using AllocatePinned = at::Tensor (*)(int64_t bytes);
inline constexpr const char* kAllocatePinned = "heddle_cuda_allocate_pinned";

/// "heddle_cuda_allocate": bytes of zeros from NCCL's allocator, else from LibTorch's.
using Allocate = at::Tensor (*)(int64_t bytes);
inline constexpr const char* kAllocate = "heddle_cuda_allocate";

}  // namespace heddle::runtime::plugin
