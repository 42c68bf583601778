// A number that a stream counts up when it gets there.
#pragma once

#include <cuda_runtime_api.h>

namespace heddle::cuda {

/// Adds 1 to a number in memory that the device can write; only one stream counts it.
void count_up(unsigned long long* number, cudaStream_t stream);

}  // namespace heddle::cuda
