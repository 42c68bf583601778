// A GPU as executors use it: times by events, the step as a CUDA graph.
#pragma once

#include <memory>

#include "engine/runtime/device_run.h"

namespace heddle::cuda {

/// For the current GPU, on whose current stream operators run.
std::unique_ptr<runtime::DeviceRun> make_cuda_run();

}  // namespace heddle::cuda
