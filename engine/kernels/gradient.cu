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

// A block is a chunk of one tensor.
template <typename T>
__global__ void square(ListBlocks blocks, Inputs tensors, double* partial) {
  const int block = static_cast<int>(blockIdx.x), tensor = blocks.tensor_of(block);
  const T* x = static_cast<const T*>(tensors.of[tensor]);
  double sum = 0;
  for (int64_t i = blocks.begin(block, tensor) + threadIdx.x; i < blocks.end(block, tensor);
       i += kThreads) {
    const double value = to_float(x[i]);
    sum += value * value;
  }
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
      add<T, V><<<static_cast<unsigned>(blocks_for(n, kThreads * V)), kThreads, 0, stream>>>(
          sum, static_cast<const T*>(value), n);
    });
  });
}

void squared_norms(Type type, const ListBlocks& blocks, const Inputs& tensors,
                   const Results& results, double* partial, cudaStream_t stream) {
  if (blocks.blocks() > 0)
    by_type(type, [&]<typename T>() {
      square<T><<<static_cast<unsigned>(blocks.blocks()), kThreads, 0, stream>>>(blocks, tensors,
                                                                                 partial);
    });
  if (blocks.count > 0)
    sum_squares<<<static_cast<unsigned>(blocks.count), kThreads, 0, stream>>>(blocks, results,
                                                                              partial);
}

void total_norm(const Inputs& squares, int count, double* total, bool add, cudaStream_t stream) {
  sum_in_order<<<1, 1, 0, stream>>>(squares, count, total, add);
}

void clip_factor(const double* norm, double max_norm, float* factor, cudaStream_t stream) {
  clip<<<1, 1, 0, stream>>>(norm, max_norm, factor);
}

}  // namespace heddle::kernels::cuda
