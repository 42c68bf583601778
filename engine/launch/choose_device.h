// Decides what `hardware.device = "auto"` means: once for all ranks of a run, before any of them
// starts, with a line that says so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace heddle::launch {

/// The GPUs of a host that a run's ranks could have.
struct GpusOf {
  std::string host;
  int64_t count = 0;
  std::string name = {};   // of the first: "NVIDIA H100 80GB HBM3"
  std::string fault = {};  // why they cannot be used, where there are some
};

struct DeviceChoice {
  bool gpus = false;
  std::string why;  // "4 ranks on 4 × NVIDIA H100": for the log and the preflight
};

/// GPUs where each host has one for each of its ranks, or, if ranks `share`, at least one.
DeviceChoice choose_device(const std::vector<GpusOf>& hosts, int64_t ranks_of_host, bool share);

/// This host's GPUs as `engine gpus` counts them, which CUDA_VISIBLE_DEVICES and cgroups bound;
/// none at once where `devices` has no NVIDIA driver.
GpusOf gpus_here(const std::string& engine, const std::string& devices = "/dev");

/// The GPUs that `engine gpus` prints, as a line of JSON. `error`: why there are none.
std::string gpus_text(int64_t count, const std::string& name, const std::string& error);

}  // namespace heddle::launch
