#include "engine/kernels/device.cuh"

namespace heddle::kernels::cuda {
namespace {

// Rows that a block of backward adds into one partial sum of dweight.
constexpr int64_t kRows = 64;

// A block is a row. With `other` it is the norm of `total`, the sum of x and that; else total is x.
template <typename T, typename W, int V>
__global__ void forward(const T* x, const T* other, T* total, const W* weight, T* y, float* rstd,
                        int64_t n, double eps) {
  const int64_t row = blockIdx.x;
  x += row * n;
  y += row * n;
  if (other) {
    other += row * n;
    total += row * n;
  }
  float sum = 0;
  for (int64_t i = threadIdx.x * V; i < n; i += kThreads * V) {
    float v[V];
    load<V>(x + i, v);
    if (other) {
      float w[V];
      load<V>(other + i, w);
#pragma unroll
      for (int j = 0; j < V; ++j) v[j] += w[j];
      store<V>(total + i, v);
      load<V>(total + i, v);  // as it was rounded
    }
#pragma unroll
    for (int j = 0; j < V; ++j) sum += v[j] * v[j];
  }
  sum = reduce_block(sum, 0.0F, Sum());
  const auto r =
      static_cast<float>(1.0 / sqrt(static_cast<double>(sum) / static_cast<double>(n) + eps));
  if (threadIdx.x == 0) rstd[row] = r;
  for (int64_t i = threadIdx.x * V; i < n; i += kThreads * V) {
    float v[V], w[V];
    load<V>(other ? total + i : x + i, v);
    load<V>(weight + i, w);
#pragma unroll
    for (int j = 0; j < V; ++j) v[j] *= r * w[j];
    store<V>(y + i, v);
  }
}

// dx = r·(w·dy − x·r²·mean(w·dy·x)), and `other` added to it where that is given; a block is kRows
// rows, and each thread keeps its own columns of Σ dy·x·r, which no other thread touches.
template <typename T, typename W, int V>
__global__ void backward(const T* dy, const T* x, const W* weight, const float* rstd,
                         const T* other, T* dx, float* partial, int64_t rows, int64_t n) {
  partial += blockIdx.x * n;
  for (int64_t i = threadIdx.x * V; i < n; i += kThreads * V)
    for (int j = 0; j < V; ++j) partial[i + j] = 0;
  const int64_t first = blockIdx.x * kRows, end = min(rows, first + kRows);
  for (int64_t row = first; row < end; ++row) {
    const T *dy_row = dy + row * n, *x_row = x + row * n;
    const float r = rstd[row];
    float dot = 0;
    for (int64_t i = threadIdx.x * V; i < n; i += kThreads * V) {
      float d[V], v[V], w[V];
      load<V>(dy_row + i, d);
      load<V>(x_row + i, v);
      load<V>(weight + i, w);
#pragma unroll
      for (int j = 0; j < V; ++j) dot += d[j] * w[j] * v[j];
    }
    const float c = reduce_block(dot, 0.0F, Sum()) * r * r / static_cast<float>(n);
    for (int64_t i = threadIdx.x * V; i < n; i += kThreads * V) {
      float d[V], v[V], w[V], sums[V];
      load<V>(dy_row + i, d);
      load<V>(x_row + i, v);
      load<V>(weight + i, w);
#pragma unroll
      for (int j = 0; j < V; ++j) {
        sums[j] = partial[i + j] + d[j] * v[j] * r;
        d[j] = r * (d[j] * w[j] - v[j] * c);
      }
#pragma unroll
      for (int j = 0; j < V; ++j) partial[i + j] = sums[j];
      if (other) {
        load<V>(other + row * n + i, v);
#pragma unroll
        for (int j = 0; j < V; ++j) d[j] = __fadd_rn(v[j], to_float(from_float<T>(d[j])));
      }
      store<V>(dx + row * n + i, d);
    }
  }
}

// A thread is a column.
template <typename W>
__global__ void sum_partial(const float* partial, W* dweight, int64_t blocks, int64_t n) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int64_t block = 0; block < blocks; ++block) sum += partial[block * n + i];
  dweight[i] = from_float<W>(sum);
}

}  // namespace

int64_t rms_norm_blocks(int64_t rows) { return blocks_for(rows, kRows); }

void add_rms_norm(Type type, Type weight_type, const void* x, const void* other, const void* weight,
                  void* y, float* rstd, void* sum, int64_t rows, int64_t n, double eps,
                  cudaStream_t stream) {
  if (rows == 0) return;
  by_type(type, [&]<typename T>() {
    by_type(weight_type, [&]<typename W>() {
      by_pack<T>(packs<T>(n, x, other, weight, y, sum), [&]<typename, int V>() {
        forward<T, W, V><<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(
            static_cast<const T*>(x), static_cast<const T*>(other), static_cast<T*>(sum),
            static_cast<const W*>(weight), static_cast<T*>(y), rstd, n, eps);
      });
    });
  });
}

void rms_norm(Type type, Type weight_type, const void* x, const void* weight, void* y, float* rstd,
              int64_t rows, int64_t n, double eps, cudaStream_t stream) {
  add_rms_norm(type, weight_type, x, nullptr, weight, y, rstd, nullptr, rows, n, eps, stream);
}

void rms_norm_backward_add(Type type, Type weight_type, const void* dy, const void* x,
                           const void* weight, const float* rstd, const void* other, void* dx,
                           void* dweight, float* partial, int64_t rows, int64_t n,
                           cudaStream_t stream) {
  const int64_t blocks = rms_norm_blocks(rows);
  by_type(type, [&]<typename T>() {
    by_type(weight_type, [&]<typename W>() {
      if (blocks > 0)
        by_pack<T>(packs<T>(n, dy, x, weight, other, dx), [&]<typename, int V>() {
          backward<T, W, V><<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(
              static_cast<const T*>(dy), static_cast<const T*>(x), static_cast<const W*>(weight),
              rstd, static_cast<const T*>(other), static_cast<T*>(dx), partial, rows, n);
        });
      sum_partial<W><<<static_cast<unsigned>(blocks_for(n, kThreads)), kThreads, 0, stream>>>(
          partial, static_cast<W*>(dweight), blocks, n);
    });
  });
}

void rms_norm_backward(Type type, Type weight_type, const void* dy, const void* x,
                       const void* weight, const float* rstd, void* dx, void* dweight,
                       float* partial, int64_t rows, int64_t n, cudaStream_t stream) {
  rms_norm_backward_add(type, weight_type, dy, x, weight, rstd, nullptr, dx, dweight, partial, rows,
                        n, stream);
}

}  // namespace heddle::kernels::cuda
