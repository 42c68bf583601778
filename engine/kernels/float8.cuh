// Numbers of 8 bits on a GPU, and the largest of those that share a scale.
#pragma once

#include <cuda_fp8.h>

#include "engine/kernels/device.cuh"
#include "engine/kernels/float8_format.h"

namespace heddle::kernels::cuda {

template <Float8 Format>
inline constexpr auto kKind = Format == Float8::e4m3 ? __NV_E4M3 : __NV_E5M2;
template <Float8 Format>
inline constexpr float kLargest = Format == Float8::e4m3 ? E4m3::kLargest : E5m2::kLargest;

template <Float8 Format>
__device__ uint8_t encoded(float x) {
  return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, kKind<Format>);
}

/// V numbers in 8 bits, written at once.
template <Float8 Format, int V>
__device__ void encode(const float (&x)[V], float scale, uint8_t* to) {
  Pack<uint8_t, V> pack;
#pragma unroll
  for (int j = 0; j < V; ++j) pack.of[j] = encoded<Format>(x[j] * scale);
  *reinterpret_cast<Pack<uint8_t, V>*>(to) = pack;
}

/// The larger of two numbers without their sign, as bits: these sort as the numbers, NaN last.
struct Larger {
  __device__ unsigned operator()(unsigned a, unsigned b) const { return a < b ? b : a; }
};
template <int V, typename T>
__device__ void see(const T* x, unsigned& most) {
  float v[V];
  load<V>(x, v);
#pragma unroll
  for (int j = 0; j < V; ++j) most = Larger()(most, __float_as_uint(v[j]) & 0x7FFFFFFFU);
}

}  // namespace heddle::kernels::cuda
