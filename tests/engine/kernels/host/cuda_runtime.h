// In place of CUDA's header of this name: what the kernels of engine/kernels use of CUDA C++, on
// the emulator.
#pragma once

#include <math.h>

#include <bit>
#include <cstring>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "tests/engine/kernels/host/emulator.h"

#define __global__
#define __device__
#define __host__
#define __shared__ static  // one block runs at a time

inline const dim3 &threadIdx = heddle::emulator::position.thread,
                  &blockIdx = heddle::emulator::position.block,
                  &blockDim = heddle::emulator::position.block_size,
                  &gridDim = heddle::emulator::position.grid_size;

inline void __syncthreads() { heddle::emulator::wait_for_block(); }

template <typename T>
T __shfl_xor_sync(unsigned lanes, T value, int mask) {
  static_assert(sizeof(T) <= sizeof(uint64_t));
  if (lanes != 0xffffffffU) throw std::logic_error("a shuffle of some lanes only");
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = heddle::emulator::exchange(bits, (threadIdx.x % 32) ^ static_cast<unsigned>(mask));
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline unsigned __ballot_sync(unsigned lanes, bool value) {
  if (lanes != 0xffffffffU) throw std::logic_error("a ballot of some lanes only");
  return heddle::emulator::ballot(value);
}

struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline void __stwb(uint4* to, uint4 value) { *to = value; }

inline int __popc(unsigned value) { return std::popcount(value); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline float rsqrtf(float x) { return 1.0F / sqrtf(x); }
inline void __threadfence_system() {}
[[noreturn]] inline void __trap() { throw std::runtime_error("a kernel stopped the run"); }

using std::isfinite;
using std::isinf;
template <typename T>
T min(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
T max(T a, T b) {
  return a < b ? b : a;
}

struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
};

template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  const std::tuple<Parameters...> kept(std::forward<Arguments>(arguments)...);
  heddle::emulator::run({config->gridDim, config->blockDim}, [&] { std::apply(kernel, kept); });
  return cudaSuccess;
}
