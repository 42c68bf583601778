#include "engine/runtime/device.h"

#include <ATen/Context.h>
#include <ATen/ops/zeros.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "base/build_id.h"
#include "base/say.h"
#include "engine/probe/gpus_here.h"
#include "engine/runtime/cuda_plugin.h"
#include "engine/runtime/deterministic.h"
#include "engine/runtime/device_properties.h"
#include "engine/transport/host_backend.h"

namespace heddle::runtime {
namespace {

void* cuda_plugin = nullptr;

// A function of the plug-in.
template <typename Function>
Function look_up(const char* name) {
  const auto found = reinterpret_cast<Function>(dlsym(cuda_plugin, name));
  TORCH_CHECK(found, "libheddle_cuda.so is not of this engine: it has no ", name);
  return found;
}

// Loads it once.
Result<> load_plugin() {
  if (cuda_plugin) return {};
  void* opened = dlopen("libheddle_cuda.so", RTLD_NOW | RTLD_GLOBAL);
  if (!opened)
    return fail(
        "hardware.device: GPUs need the CUDA plug-in, which does not load ({}); build it with "
        "packaging/start.sh --cuda, or set device = \"cpu\"",
        dlerror());
  const auto build = reinterpret_cast<plugin::Build>(dlsym(opened, plugin::kBuild));
  const std::string_view of = build ? build() : "";
  if (of != build_id())
    return fail(
        "hardware.device: libheddle_cuda.so is of another build ({}) than this engine ({}); "
        "packaging/start.sh --cuda builds both",
        of.empty() ? "unknown" : of, build_id());
  cuda_plugin = opened;
  return {};
}

}  // namespace

Result<c10::Device> open_device(const std::string& wanted, int local_rank, bool shared,
                                bool deterministic) {
  if (wanted != "cuda") {
    // Subnormal numbers count as zero: a product with many takes ten times as long, and they come
    // by themselves, from softmax over logits far apart and from moments that fade. Threads inherit
    // it.
    at::globalContext().setFlushDenormal(true);
    return c10::Device(c10::kCPU);
  }
  if (const auto loaded = load_plugin(); !loaded) return fail(loaded);
  if (deterministic) compute_deterministically();
  const plugin::UsedDevice used =
      look_up<plugin::UseDevice>(plugin::kUseDevice)(local_rank, shared);
  if (used.index < 0) {
    if (const plugin::GpuFacts facts = look_up<plugin::Facts>(plugin::kFacts)();
        !facts.error.empty())
      return fail(
          "hardware.device: no GPU can be used here: {}; CUDA 13 needs a driver 580 or later, "
          "which nvidia-smi shows; valid: device = \"cpu\", or a host with one",
          facts.error);
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    return fail(
        "hardware.device: this host has {} usable GPUs{}, and rank {} of it needs one more; check "
        "the driver with nvidia-smi, take fewer ranks, or let them share with transport.gpus = "
        "\"host\"; where a scheduler gives each task one GPU, ask for all of them in one task",
        used.count, visible ? fmt::format(" (CUDA_VISIBLE_DEVICES = \"{}\")", visible) : "",
        local_rank);
  }
  return c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(used.index));
}

int print_gpus() {
  const auto loaded = load_plugin();
  const plugin::GpuFacts facts = loaded ? look_up<plugin::Facts>(plugin::kFacts)()
                                        : plugin::GpuFacts{.error = loaded.error().message};
  say("{}\n", probe::gpus_text(facts.count, facts.name, facts.error));
  return 0;
}

std::string pci_address(c10::Device gpu) {
  return look_up<plugin::PciAddress>(plugin::kPciAddress)(gpu.index());
}

c10::intrusive_ptr<c10d::Backend> make_group(c10::Device device,
                                             c10::intrusive_ptr<c10d::Store> store, int rank,
                                             int size, transport::GroupOptions options) {
  if (device.is_cuda())
    return look_up<plugin::MakeGroup>(plugin::kMakeGroup)(store, rank, size, options);
  return c10::make_intrusive<transport::HostBackend>(store, rank, size, std::move(options));
}

std::unique_ptr<DeviceRun> make_device_run(c10::Device device) {
  if (device.is_cuda()) return look_up<plugin::MakeRun>(plugin::kMakeRun)();
  return make_cpu_run();
}

DeviceProperties device_properties(c10::Device gpu) {
  return look_up<plugin::Properties>(plugin::kProperties)(gpu.index());
}

int64_t free_bytes(c10::Device device) {
  return device.is_cuda() ? look_up<plugin::FreeBytes>(plugin::kFreeBytes)() : 0;
}

at::Tensor allocate_beside(c10::Device device, int64_t bytes) {
  if (device.is_cuda()) return look_up<plugin::AllocatePinned>(plugin::kAllocatePinned)(bytes);
  return at::zeros({bytes}, at::kByte);
}

at::Tensor allocate_on(c10::Device device, int64_t bytes) {
  TORCH_CHECK(device.is_cuda(), "there is no allocator for ", device);
  return look_up<plugin::Allocate>(plugin::kAllocate)(bytes);
}

}  // namespace heddle::runtime
