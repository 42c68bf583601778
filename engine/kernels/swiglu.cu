#include "engine/kernels/device.cuh"

namespace heddle::kernels::cuda {
namespace {

__device__ float sigmoid(float x) { return 1.0F / (1.0F + expf(-x)); }

template <typename T, int V>
__global__ void forward(const T* gate, const T* up, T* out, int64_t n) {
  const int64_t i = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) * V;
  if (i >= n) return;
  float g[V], u[V];
  load<V>(gate + i, g);
  load<V>(up + i, u);
#pragma unroll
  for (int j = 0; j < V; ++j) g[j] *= sigmoid(g[j]) * u[j];
  store<V>(out + i, g);
}

template <typename T, int V>
__global__ void backward(const T* dout, const T* gate, const T* up, T* dgate, T* dup, int64_t n) {
  const int64_t i = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) * V;
  if (i >= n) return;
  float d[V], g[V], u[V];
  load<V>(dout + i, d);
  load<V>(gate + i, g);
  load<V>(up + i, u);
#pragma unroll
  for (int j = 0; j < V; ++j) {
    const float s = sigmoid(g[j]), silu = g[j] * s;
    g[j] = d[j] * u[j] * (s + silu * (1.0F - s));
    u[j] = d[j] * silu;
  }
  store<V>(dgate + i, g);
  store<V>(dup + i, u);
}

}  // namespace

void swiglu(Type type, const void* gate, const void* up, void* out, int64_t n,
            cudaStream_t stream) {
  if (n == 0) return;
  by_type(type, [&]<typename T>() {
    by_pack<T>(packs<T>(n, gate, up, out), [&]<typename, int V>() {
      launch(stream, blocks_for(n, kThreads * V), &forward<T, V>, static_cast<const T*>(gate),
             static_cast<const T*>(up), static_cast<T*>(out), n);
    });
  });
}

void swiglu_backward(Type type, const void* dout, const void* gate, const void* up, void* dgate,
                     void* dup, int64_t n, cudaStream_t stream) {
  if (n == 0) return;
  by_type(type, [&]<typename T>() {
    by_pack<T>(packs<T>(n, dout, gate, up, dgate, dup), [&]<typename, int V>() {
      launch(stream, blocks_for(n, kThreads * V), &backward<T, V>, static_cast<const T*>(dout),
             static_cast<const T*>(gate), static_cast<const T*>(up), static_cast<T*>(dgate),
             static_cast<T*>(dup), n);
    });
  });
}

}  // namespace heddle::kernels::cuda
