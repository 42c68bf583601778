// Decides what `hardware.device = "auto"` means: once for all ranks of a run, before any of them
// starts, with a line that says so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/probe/gpus_here.h"

namespace heddle::launch {

struct DeviceChoice {
  bool gpus = false;
  std::string why;  // "4 ranks on 4 × NVIDIA H100": for the log and the preflight
};

/// GPUs where each host has one for each of its ranks, or, if ranks `share`, at least one.
DeviceChoice choose_device(const std::vector<probe::GpusOf>& hosts, int64_t ranks_of_host,
                           bool share);

}  // namespace heddle::launch
