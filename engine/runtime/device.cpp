#include "engine/runtime/device.h"

#include <dlfcn.h>

#include "engine/cuda/plugin.h"
#include "engine/transport/host_backend.h"

namespace heddle::runtime {
namespace {

void* cuda_plugin = nullptr;

}  // namespace

Result<c10::Device> open_device(const std::string& wanted, int local_rank) {
  if (wanted != "cuda") return c10::Device(c10::kCPU);
  cuda_plugin = dlopen("libheddle_cuda.so", RTLD_NOW | RTLD_GLOBAL);
  if (!cuda_plugin)
    return fail(
        "hardware.device: GPUs need the CUDA plug-in, which does not load ({}); build it with "
        "packaging/start.sh --cuda, or set device = \"cpu\"",
        dlerror());
  const auto use_device = reinterpret_cast<cuda::UseDevice>(dlsym(cuda_plugin, cuda::kUseDevice));
  if (!use_device) return fail("libheddle_cuda.so is not of this engine: {}", dlerror());
  const int count = use_device(local_rank);
  if (local_rank >= count)
    return fail(
        "hardware.device: this host has {} usable GPUs, and rank {} of it needs one more; check "
        "the "
        "driver with nvidia-smi, or take fewer ranks",
        count, local_rank);
  return c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(local_rank));
}

c10::intrusive_ptr<c10d::Backend> make_group(c10::Device device,
                                             c10::intrusive_ptr<c10d::Store> store, int rank,
                                             int size, transport::GroupOptions options) {
  if (device.is_cuda()) {
    const auto make = reinterpret_cast<cuda::MakeGroup>(dlsym(cuda_plugin, cuda::kMakeGroup));
    TORCH_CHECK(make, "libheddle_cuda.so is not of this engine");
    return make(store, rank, size);
  }
  return c10::make_intrusive<transport::HostBackend>(store, rank, size, std::move(options));
}

}  // namespace heddle::runtime
