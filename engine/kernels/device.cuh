// Code that the CUDA kernels of this folder share: they compute in fp32 whatever they read and
// write, move 16 bytes at a time where memory allows, and sum in an order that only the shapes
// decide.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <utility>

#include "engine/kernels/launch.h"

namespace heddle::kernels::cuda {

inline constexpr int kThreads = 256;
inline constexpr unsigned kAllLanes = 0xffffffffU;

__device__ inline float to_float(float value) { return value; }
__device__ inline float to_float(__nv_bfloat16 value) { return __bfloat162float(value); }

template <typename T>
__device__ T from_float(float value);
template <>
__device__ inline float from_float<float>(float value) {
  return value;
}
template <>
__device__ inline __nv_bfloat16 from_float<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}

/// V elements that lie side by side, read and written at once.
template <typename T, int V>
struct alignas(sizeof(T) * V) Pack {
  T of[V];
};

template <int V, typename T>
__device__ void load(const T* from, float (&to)[V]) {
  const auto pack = *reinterpret_cast<const Pack<T, V>*>(from);
#pragma unroll
  for (int i = 0; i < V; ++i) to[i] = to_float(pack.of[i]);
}

template <int V, typename T>
__device__ void store(T* to, const float (&from)[V]) {
  Pack<T, V> pack;
#pragma unroll
  for (int i = 0; i < V; ++i) pack.of[i] = from_float<T>(from[i]);
  *reinterpret_cast<Pack<T, V>*>(to) = pack;
}

/// The same to global memory, by instructions of 16 bytes: what `store` writes the compiler takes
/// apart into single elements in some loops.
template <int V, typename T>
__device__ void store_whole(T* to, const float (&from)[V]) {
  constexpr int kWords = sizeof(Pack<T, V>) / sizeof(uint4);
  if constexpr (kWords == 0) {
    store<V>(to, from);
  } else {
    Pack<T, V> pack;
    uint4 words[kWords];
#pragma unroll
    for (int i = 0; i < V; ++i) pack.of[i] = from_float<T>(from[i]);
    memcpy(words, &pack, sizeof pack);
#pragma unroll
    for (int i = 0; i < kWords; ++i) __stwb(reinterpret_cast<uint4*>(to) + i, words[i]);
  }
}

/// V elements at once where `Aligned`, else one after the other.
template <bool Aligned, int V, typename T>
__device__ void load_aligned(const T* from, float (&to)[V]) {
  if constexpr (Aligned) {
    load<V>(from, to);
  } else {
#pragma unroll
    for (int i = 0; i < V; ++i) to[i] = to_float(from[i]);
  }
}
template <bool Aligned, int V, typename T>
__device__ void store_aligned(T* to, const float (&from)[V]) {
  if constexpr (Aligned) {
    store<V>(to, from);
  } else {
#pragma unroll
    for (int i = 0; i < V; ++i) to[i] = from_float<T>(from[i]);
  }
}

struct Sum {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

/// Over the block; every thread gets the result, and all must call it.
template <typename T, typename Combine>
__device__ T reduce_block(T value, T neutral, Combine combine) {
  __shared__ T partial[32];
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2)
    value = combine(value, __shfl_xor_sync(kAllLanes, value, offset));
  __syncthreads();  // an earlier result has been read
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  T result = neutral;
  for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) result = combine(result, partial[warp]);
  return result;
}

/// A label or position that is outside its table: the kernel stops the run.
__device__ inline void stop_run(const char* what, int64_t value, int64_t limit) {
  printf("heddle: %s %lld is outside of %lld\n", what, static_cast<long long>(value),
         static_cast<long long>(limit));
  __trap();
}

/// Puts a kernel in the stream: `blocks` times `across` blocks of `threads`.
template <typename... Parameters, typename... Arguments>
void launch(cudaStream_t stream, int64_t blocks, int64_t across, int threads,
            void (*kernel)(Parameters...), Arguments&&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3{static_cast<unsigned>(blocks), static_cast<unsigned>(across), 1};
  config.blockDim = dim3{static_cast<unsigned>(threads), 1, 1};
  config.stream = stream;
  cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...);
}

/// The same, `blocks` of kThreads.
template <typename... Parameters, typename... Arguments>
void launch(cudaStream_t stream, int64_t blocks, void (*kernel)(Parameters...),
            Arguments&&... arguments) {
  launch(stream, blocks, 1, kThreads, kernel, std::forward<Arguments>(arguments)...);
}

template <typename T>
inline constexpr int kPack = 16 / sizeof(T);

/// A grid for rows of `items`, which take a thread each: blocks of a row in y, so that kernels need
/// no division to find their row.
struct RowGrid {
  int64_t across;
  int threads;

  explicit RowGrid(int64_t items)
      : across(blocks_for(items, kThreads)),
        threads(static_cast<int>(items < kThreads ? blocks_for(items, 32) * 32 : kThreads)) {}
};
/// The item of this thread.
__device__ inline int item_of_row() {
  return static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x);
}

/// Whether rows of n elements can be read kPack at a time at all these addresses: 32 bytes of fp32
/// beside 16 of bf16.
template <typename T, typename... Pointers>
bool packs(int64_t n, const Pointers*... pointers) {
  return n % kPack<T> == 0 && ((reinterpret_cast<uintptr_t>(pointers) % 32 == 0) && ...);
}

/// Up to where elements [begin, end) of all these tensors can be read V at a time; begin is a
/// multiple of V.
template <int V, typename... Ts>
__device__ int64_t whole_packs(int64_t begin, int64_t end, const Ts*... tensors) {
  const bool aligned = ((reinterpret_cast<uintptr_t>(tensors) % sizeof(Pack<Ts, V>) == 0) && ...);
  return aligned ? end - (end - begin) % V : begin;
}

/// Calls `launch.template operator()<T>()` with the element's type.
template <typename Launch>
void by_type(Type type, Launch&& launch) {
  if (type == Type::fp32) {
    launch.template operator()<float>();
  } else {
    launch.template operator()<__nv_bfloat16>();
  }
}

/// Calls `launch.template operator()<T, V>()`, V being kPack where `packed`, else 1.
template <typename T, typename Launch>
void by_pack(bool packed, Launch&& launch) {
  if (packed) {
    launch.template operator()<T, kPack<T>>();
  } else {
    launch.template operator()<T, 1>();
  }
}

}  // namespace heddle::kernels::cuda
