#include "engine/kernels/device.cuh"

namespace heddle::kernels::cuda {
namespace {

__device__ float sigmoid(float x) { return 1.0F / (1.0F + expf(-x)); }

// V elements.
template <int V, typename T>
__device__ void gate_some(const T* gate, const T* up, T* out) {
  float g[V], u[V];
  load<V>(gate, g);
  load<V>(up, u);
#pragma unroll
  for (int j = 0; j < V; ++j) g[j] *= sigmoid(g[j]) * u[j];
  store<V>(out, g);
}

template <int V, typename T>
__device__ void gate_some_backward(const T* dout, const T* gate, const T* up, T* dgate, T* dup) {
  float d[V], g[V], u[V];
  load<V>(dout, d);
  load<V>(gate, g);
  load<V>(up, u);
#pragma unroll
  for (int j = 0; j < V; ++j) {
    const float s = sigmoid(g[j]), silu = g[j] * s;
    g[j] = d[j] * u[j] * (s + silu * (1.0F - s));
    u[j] = d[j] * silu;
  }
  store<V>(dgate, g);
  store<V>(dup, u);
}

template <typename T, int V>
__global__ void forward(const T* gate, const T* up, T* out, int64_t n) {
  const int64_t i = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) * V;
  if (i < n) gate_some<V>(gate + i, up + i, out + i);
}

template <typename T, int V>
__global__ void backward(const T* dout, const T* gate, const T* up, T* dgate, T* dup, int64_t n) {
  const int64_t i = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) * V;
  if (i < n) gate_some_backward<V>(dout + i, gate + i, up + i, dgate + i, dup + i);
}

// A row of the grid is a row of gate and up.
template <typename T, int V>
__global__ void joined_forward(const T* gate_and_up, T* out, int width) {
  const int i = item_of_row() * V;
  if (i >= width) return;
  const T* gate = gate_and_up + static_cast<int64_t>(blockIdx.x) * 2 * width + i;
  gate_some<V>(gate, gate + width, out + static_cast<int64_t>(blockIdx.x) * width + i);
}

template <typename T, int V>
__global__ void joined_backward(const T* dout, const T* gate_and_up, T* gradient, int width) {
  const int i = item_of_row() * V;
  if (i >= width) return;
  const int64_t at = static_cast<int64_t>(blockIdx.x) * 2 * width + i;
  const T* gate = gate_and_up + at;
  T* dgate = gradient + at;
  gate_some_backward<V>(dout + static_cast<int64_t>(blockIdx.x) * width + i, gate, gate + width,
                        dgate, dgate + width);
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

void joined_swiglu(Type type, const void* gate_and_up, void* out, int64_t rows, int64_t width,
                   cudaStream_t stream) {
  if (rows * width == 0) return;
  by_type(type, [&]<typename T>() {
    by_pack<T>(packs<T>(width, gate_and_up, out), [&]<typename, int V>() {
      const RowGrid grid(width / V);
      launch(stream, rows, grid.across, grid.threads, &joined_forward<T, V>,
             static_cast<const T*>(gate_and_up), static_cast<T*>(out), static_cast<int>(width));
    });
  });
}

void joined_swiglu_backward(Type type, const void* dout, const void* gate_and_up, void* gradient,
                            int64_t rows, int64_t width, cudaStream_t stream) {
  if (rows * width == 0) return;
  by_type(type, [&]<typename T>() {
    by_pack<T>(packs<T>(width, dout, gate_and_up, gradient), [&]<typename, int V>() {
      const RowGrid grid(width / V);
      launch(stream, rows, grid.across, grid.threads, &joined_backward<T, V>,
             static_cast<const T*>(dout), static_cast<const T*>(gate_and_up),
             static_cast<T*>(gradient), static_cast<int>(width));
    });
  });
}

}  // namespace heddle::kernels::cuda
