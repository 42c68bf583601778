#include "engine/cuda/count.h"

namespace heddle::cuda {
namespace {

__global__ void count_up_kernel(volatile unsigned long long* number) {
  *number = *number + 1;
  __threadfence_system();
}

}  // namespace

void count_up(unsigned long long* number, cudaStream_t stream) {
  count_up_kernel<<<1, 1, 0, stream>>>(number);
}

}  // namespace heddle::cuda
