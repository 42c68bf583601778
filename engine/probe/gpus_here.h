// A host's GPUs, as the engine's plug-in counts them.
#pragma once

#include <cstdint>
#include <string>

namespace heddle::probe {

/// The GPUs of a host that a run's ranks could have.
struct GpusOf {
  std::string host;
  int64_t count = 0;
  std::string name = {};   // of the first: "NVIDIA H100 80GB HBM3"
  std::string fault = {};  // why they cannot be used, where there are some
};

/// This host's GPUs as `engine gpus` counts them, which CUDA_VISIBLE_DEVICES and cgroups bound;
/// none at once where `devices` has no NVIDIA driver.
GpusOf gpus_here(const std::string& engine, const std::string& devices = "/dev");

/// The GPUs that `engine gpus` prints, as a line of JSON. `error`: why there are none.
std::string gpus_text(int64_t count, const std::string& name, const std::string& error);

}  // namespace heddle::probe
