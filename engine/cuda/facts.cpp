// The plug-in's report on itself and the host's GPUs.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/build_id.h"
#include "base/build_mark.h"
#include "engine/runtime/cuda_plugin.h"

using namespace heddle;

extern "C" {

const char* heddle_cuda_build() { return kMarked + kBuildMark.size(); }

runtime::plugin::GpuFacts heddle_cuda_facts() {
  runtime::plugin::GpuFacts facts;
  cudaDeviceProp first{};
  cudaError_t status = cudaGetDeviceCount(&facts.count);
  if (status == cudaSuccess && facts.count > 0) status = cudaGetDeviceProperties(&first, 0);
  if (status == cudaSuccess) {
    facts.name = first.name;
  } else if (status != cudaErrorNoDevice) {
    facts.error = cudaGetErrorString(status);
    facts.count = 0;
  }
  return facts;
}

std::string heddle_cuda_pci_address(int index) {
  std::array<char, 32> address{};
  if (cudaDeviceGetPCIBusId(address.data(), address.size(), index) != cudaSuccess) return {};
  std::string text = address.data();
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

}  // extern "C"
