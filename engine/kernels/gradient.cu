#include "engine/kernels/device.cuh"

namespace heddle::kernels::cuda {
namespace {

template <typename T, int V>
__global__ void add(float* sum, const T* value, int64_t n) {
  const int64_t i = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) * V;
  if (i >= n) return;
  float s[V], v[V];
  load<V>(sum + i, s);
  load<V>(value + i, v);
#pragma unroll
  for (int j = 0; j < V; ++j) s[j] += v[j];
  store<V>(sum + i, s);
}

template <int V, typename T>
__device__ void add_squares(const T* x, double& sum) {
  float v[V];
  load<V>(x, v);
#pragma unroll
  for (int j = 0; j < V; ++j) sum += static_cast<double>(v[j]) * static_cast<double>(v[j]);
}

// A block is a chunk of one tensor. In fp64, which a gradient that is far too large cannot exceed:
// it is clipped and the run goes on. Memory takes longer than that.
template <typename T>
__global__ void square(ListBlocks blocks, Inputs tensors, double* partial) {
  const int block = static_cast<int>(blockIdx.x), tensor = blocks.tensor_of(block);
  const T* x = static_cast<const T*>(tensors.of[tensor]);
  const int64_t begin = blocks.begin(block, tensor), end = blocks.end(block, tensor);
  const int64_t whole = whole_packs<kPack<T>>(begin, end, x);
  double sum = 0;
  for (int64_t i = begin + threadIdx.x * kPack<T>; i < whole; i += kThreads * kPack<T>)
    add_squares<kPack<T>>(x + i, sum);
  for (int64_t i = whole + threadIdx.x; i < end; i += kThreads) add_squares<1>(x + i, sum);
  sum = reduce_block(sum, 0.0, Sum());
  if (threadIdx.x == 0) partial[block] = sum;
}

// A block is a tensor.
__global__ void sum_squares(ListBlocks blocks, Results results, const double* partial) {
  const int tensor = static_cast<int>(blockIdx.x);
  double sum = 0;
  for (int i = blocks.first[tensor] + static_cast<int>(threadIdx.x); i < blocks.first[tensor + 1];
       i += kThreads)
    sum += partial[i];
  sum = reduce_block(sum, 0.0, Sum());
  if (threadIdx.x == 0) *results.of[tensor] = sum;
}

__global__ void sum_in_order(Inputs squares, int count, double* total, bool add) {
  double sum = add ? *total : 0;
  for (int i = 0; i < count; ++i) sum += *static_cast<const double*>(squares.of[i]);
  *total = sum;
}

__global__ void clip(const double* norm, double max_norm, float* factor) {
  double result = 1.0;
  if (!isfinite(*norm)) {
    result = 0.0;
  } else if (max_norm > 0.0) {
    result = fmin(1.0, max_norm / (*norm + 1e-6));
  }
  *factor = static_cast<float>(result);
}

}  // namespace

void accumulate(Type type, float* sum, const void* value, int64_t n, cudaStream_t stream) {
  if (n == 0) return;
  by_type(type, [&]<typename T>() {
    by_pack<T>(packs<T>(n, sum, value), [&]<typename, int V>() {
      launch(stream, blocks_for(n, kThreads * V), &add<T, V>, sum, static_cast<const T*>(value), n);
    });
  });
}

void squared_norms(Type type, const ListBlocks& blocks, const Inputs& tensors,
                   const Results& results, double* partial, cudaStream_t stream) {
  if (blocks.blocks() > 0)
    by_type(type, [&]<typename T>() {
      launch(stream, blocks.blocks(), &square<T>, blocks, tensors, partial);
    });
  if (blocks.count > 0) launch(stream, blocks.count, &sum_squares, blocks, results, partial);
}

void total_norm(const Inputs& squares, int count, double* total, bool add, cudaStream_t stream) {
  launch(stream, 1, 1, 1, &sum_in_order, squares, count, total, add);
}

void clip_factor(const double* norm, double max_norm, float* factor, cudaStream_t stream) {
  launch(stream, 1, 1, 1, &clip, norm, max_norm, factor);
}

}  // namespace heddle::kernels::cuda
