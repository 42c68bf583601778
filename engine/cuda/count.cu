#include "engine/cuda/count.h"
#include "engine/kernels/device.cuh"

namespace heddle::cuda {
namespace {

__global__ void count_up_kernel(volatile unsigned long long* number) {
  *number = *number + 1;
  __threadfence_system();
}

}  // namespace

void count_up(unsigned long long* number, cudaStream_t stream) {
  kernels::cuda::launch(stream, 1, 1, 1, &count_up_kernel, number);
}

}  // namespace heddle::cuda
