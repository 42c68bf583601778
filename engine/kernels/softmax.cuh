// Softmax over a row of logits by one block, in one pass over memory, without a copy in fp32.
#pragma once

#include <cmath>

#include "engine/kernels/device.cuh"

namespace heddle::kernels::cuda {

/// The largest of some logits, and Σ e^(logit − it).
struct Statistics {
  float top, sum;
};

__device__ inline void add(Statistics& to, float logit) {
  if (logit > to.top) {
    to.sum = to.sum * expf(to.top - logit) + 1.0F;  // the sum is 0 as long as the top is −∞
    to.top = logit;
  } else if (logit != -INFINITY) {  // what is not a number counts
    to.sum += expf(logit - to.top);
  }
}

/// Statistics of the first n logits of a row; V at a time as far as they go. All threads of the
/// block get them.
template <typename T, int V>
__device__ Statistics row_statistics(const T* row, int64_t n) {
  Statistics own{-INFINITY, 0};
  const int64_t whole = n / V * V;
  for (int64_t i = threadIdx.x * V; i < whole; i += kThreads * V) {
    float x[V];
    load<V>(row + i, x);
#pragma unroll
    for (int j = 0; j < V; ++j) add(own, x[j]);
  }
  for (int64_t i = whole + threadIdx.x; i < n; i += kThreads) add(own, to_float(row[i]));
  const float top = reduce_block(own.top, -INFINITY, Max());
  const float scaled = own.sum == 0 ? 0.0F : own.sum * expf(own.top - top);
  return {top, reduce_block(scaled, 0.0F, Sum())};
}

/// out[i] = factor · e^(row[i] − logsumexp) for the first n elements.
template <typename T, int V>
__device__ void write_softmax(const T* row, float logsumexp, float factor, T* out, int64_t n) {
  const int64_t whole = n / V * V;
  for (int64_t i = threadIdx.x * V; i < whole; i += kThreads * V) {
    float x[V];
    load<V>(row + i, x);
#pragma unroll
    for (int j = 0; j < V; ++j) x[j] = factor * expf(x[j] - logsumexp);
    store<V>(out + i, x);
  }
  for (int64_t i = whole + threadIdx.x; i < n; i += kThreads)
    out[i] = from_float<T>(factor * expf(to_float(row[i]) - logsumexp));
}

}  // namespace heddle::kernels::cuda
