// Kernels: registered and launched, and not run, but for those whose work the host waits for.
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "faults.h"
#include "streams.h"

namespace {

using fake::Work;

struct Kernels {
  std::mutex mutex;
  std::unordered_map<const void*, const char*> names;  // by the host's function
  std::unordered_set<const void*> seen;
};
Kernels& kernels() {
  static auto* all = new Kernels();
  return *all;
}

struct Configuration {
  dim3 grid, block;
  size_t shared;
  void* stream;
};
thread_local std::vector<Configuration> configurations;

// Read and written by a thread, where memory limits a kernel: about what LibTorch's do.
constexpr double kBytesOfThread = 48;

// The kernel as a function of the host; none: it leaves its results as they are.
Work host_version(const char* name, void** arguments, double threads) {
  if (!std::strstr(name, "count_up"))
    return [threads] { fake::take("FAKE_CUDA_GB_PER_S", threads * kBytesOfThread); };
  auto* number = *static_cast<unsigned long long**>(arguments[0]);
  return [number] { __atomic_fetch_add(number, 1, __ATOMIC_RELEASE); };
}

double count_of(dim3 many) { return static_cast<double>(many.x) * many.y * many.z; }

cudaError_t launch(const void* function, dim3 grid, dim3 block, void** arguments,
                   cudaStream_t stream) {
  const fake::Fate fate = fake::fate_of("kernel", fake::is_capturing(stream));
  if (fate.error) return fake::end_call(static_cast<cudaError_t>(fate.error));
  const char* name = "unknown";
  {
    const std::lock_guard lock(kernels().mutex);
    if (const auto found = kernels().names.find(function); found != kernels().names.end())
      name = found->second;
    if (kernels().seen.insert(function).second)
      fake::note("kernel %ux%ux%u %.200s", grid.x, grid.y, grid.z, name);
  }
  if (!fate.stalls)
    return fake::end_call(
        fake::put(stream, host_version(name, arguments, count_of(grid) * count_of(block))));
  const auto stall = [] {
    while (!fake::broken()) usleep(10'000);
  };
  return fake::end_call(fake::put(stream, stall, true));
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char* function, char*, const char* name, int, uint3*,
                            uint3*, dim3*, dim3*, int*) {
  const std::lock_guard lock(kernels().mutex);
  kernels().names[function] = name;
}
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void* stream) {
  configurations.push_back({grid, block, shared, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  const Configuration& last = configurations.back();
  *grid = last.grid;
  *block = last.block;
  *shared = last.shared;
  *static_cast<void**>(stream) = last.stream;
  configurations.pop_back();
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t,
                               cudaStream_t stream) {
  return launch(reinterpret_cast<const void*>(kernel), grid, block, arguments, stream);
}
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t,
                             cudaStream_t stream) {
  return launch(function, grid, block, arguments, stream);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* configuration, const void* function,
                                void** arguments) {
  return launch(function, configuration->gridDim, configuration->blockDim, arguments,
                configuration->stream);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion = 80;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int,
                                                                   size_t, unsigned int) {
  *blocks = 2;
  return cudaSuccess;
}

}  // extern "C"
