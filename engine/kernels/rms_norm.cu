#include "engine/kernels/device.cuh"

namespace heddle::kernels::cuda {
namespace {

// A block is a row. With `other` it is the norm of `total`, the sum of x and that; else total is x.
template <typename T, typename W, int V>
__global__ void forward(const T* x, const T* other, T* total, const W* weight, T* y, float* rstd,
                        int64_t n, float eps) {
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
  const float r = rsqrtf(sum / static_cast<float>(n) + eps);
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

// Columns whose sums a block keeps in shared memory: with four blocks a multiprocessor as much is
// left for its cache.
constexpr int kSumColumns = 8192;

// dx = r·(w·dy − x·r²·mean(w·dy·x)), and `other` added to it where that is given. A block is some
// rows; each thread keeps its own columns of their Σ dy·x·r, which no other thread touches.
template <typename T, typename W, int V>
__global__ void backward(const T* dy, const T* x, const W* weight, const float* rstd,
                         const T* other, T* dx, float* partial, int64_t rows, int64_t block_rows,
                         int64_t n) {
  alignas(32) __shared__ float shared[kSumColumns];
  partial += blockIdx.x * n;
  float* const sums = n <= kSumColumns ? shared : partial;
  const float none[V] = {};
  for (int64_t i = threadIdx.x * V; i < n; i += kThreads * V) store<V>(sums + i, none);
  const int64_t first = blockIdx.x * block_rows, end = min(rows, first + block_rows);
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
      float d[V], v[V], w[V], sum[V];
      load<V>(dy_row + i, d);
      load<V>(x_row + i, v);
      load<V>(weight + i, w);
      load<V>(sums + i, sum);
#pragma unroll
      for (int j = 0; j < V; ++j) {
        sum[j] += d[j] * v[j] * r;
        d[j] = r * (d[j] * w[j] - v[j] * c);
      }
      store<V>(sums + i, sum);
      if (other) {
        load<V>(other + row * n + i, v);
#pragma unroll
        for (int j = 0; j < V; ++j) d[j] = __fadd_rn(v[j], to_float(from_float<T>(d[j])));
      }
      store_whole<V>(dx + row * n + i, d);
    }
  }
  if (sums == partial) return;
  for (int64_t i = threadIdx.x * V; i < n; i += kThreads * V) {
    float sum[V];
    load<V>(sums + i, sum);
    store<V>(partial + i, sum);
  }
}

// A block is kColumns columns, 32 bytes of each row; its threads are groups of that many, each of
// which sums some of the rows.
constexpr int kColumns = 8;
template <typename W>
__global__ void sum_partial(const float* partial, W* dweight, int64_t blocks, int64_t n) {
  constexpr int kGroups = kThreads / kColumns;
  __shared__ float sums[kGroups][kColumns];
  const int column = static_cast<int>(threadIdx.x) % kColumns,
            group = static_cast<int>(threadIdx.x) / kColumns;
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kColumns + column;
  float sum = 0;
  if (i < n)
    for (int64_t block = group; block < blocks; block += kGroups) sum += partial[block * n + i];
  sums[group][column] = sum;
  __syncthreads();
  if (group != 0 || i >= n) return;
  for (int other = 1; other < kGroups; ++other) sum += sums[other][column];
  dweight[i] = from_float<W>(sum);
}

}  // namespace

void add_rms_norm(Type type, Type weight_type, const void* x, const void* other, const void* weight,
                  void* y, float* rstd, void* sum, int64_t rows, int64_t n, double eps,
                  cudaStream_t stream) {
  if (rows == 0) return;
  by_type(type, [&]<typename T>() {
    by_type(weight_type, [&]<typename W>() {
      by_pack<T>(packs<T>(n, x, other, weight, y, sum), [&]<typename, int V>() {
        launch(stream, rows, &forward<T, W, V>, static_cast<const T*>(x),
               static_cast<const T*>(other), static_cast<T*>(sum), static_cast<const W*>(weight),
               static_cast<T*>(y), rstd, n, static_cast<float>(eps));
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
  const int64_t blocks = norm_blocks(rows);
  by_type(type, [&]<typename T>() {
    by_type(weight_type, [&]<typename W>() {
      if (blocks > 0)
        by_pack<T>(packs<T>(n, dy, x, weight, other, dx, partial), [&]<typename, int V>() {
          launch(stream, blocks, &backward<T, W, V>, static_cast<const T*>(dy),
                 static_cast<const T*>(x), static_cast<const W*>(weight), rstd,
                 static_cast<const T*>(other), static_cast<T*>(dx), partial, rows,
                 blocks_for(rows, blocks), n);
        });
      launch(stream, blocks_for(n, kColumns), &sum_partial<W>, partial, static_cast<W*>(dweight),
             blocks, n);
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
