// How fast a GPU is, and how fast GPUs are with each other.
#pragma once

#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "base/result.h"
#include "engine/calibrate/gpu_bench.h"

namespace heddle::calibrate {

/// This rank's GPU by itself: products and attention by the shapes of Llama models of 1 to 70
/// billion parameters, kernels that memory limits, launches, copies. Returns clock, power and
/// temperature while products ran, or why they are not known. What does not fit into the bench's
/// room is left out. Every rank calls this at once, as all are busy in training; throws c10::Error.
Result<std::string> measure_gpu(GpuBench& bench);

/// Collectives of a group by size, up to a gigabyte of whole tensors. Every rank of the group calls
/// this; throws c10::Error.
void measure_collectives(GpuBench& bench, c10d::Backend& group);

/// A gather of the group next to products, compared with each alone. As above.
cost::GpuContention measure_contention(GpuBench& bench, c10d::Backend& group);

}  // namespace heddle::calibrate
