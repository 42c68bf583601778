#include "engine/kernels/device.cuh"

namespace heddle::kernels::cuda {
namespace {

// e^(part − whole), 0 for a part that saw nothing.
__device__ float share(float part, float whole) { return isinf(part) ? 0.0F : expf(part - whole); }

__device__ float log_of_sum(float a, float b) {
  const float top = fmaxf(a, b);
  return isinf(top) ? top : top + logf(expf(a - top) + expf(b - top));
}

// A thread is V elements of one head of one token.
template <typename T, int V>
__global__ void merge(const T* a, const float* lse_a, const T* b, const float* lse_b, T* out,
                      float* logsumexp, int64_t packs, int64_t s, int64_t heads, int64_t d) {
  const int64_t pack = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (pack >= packs) return;
  const int64_t element = pack * V, row = element / d;  // of [B, S, H]
  const int64_t token = row / heads, head = row % heads;
  const int64_t at = (token / s * heads + head) * s + token % s;  // in [B, H, S]
  const float left = lse_a[at], right = lse_b[at], whole = log_of_sum(left, right);
  if (element % d == 0) logsumexp[at] = whole;
  const float x = share(left, whole), y = share(right, whole);
  float u[V], v[V];
  load<V>(a + element, u);
  load<V>(b + element, v);
#pragma unroll
  for (int j = 0; j < V; ++j) u[j] = x * u[j] + y * v[j];
  store<V>(out + element, u);
}

}  // namespace

void merge_attention(Type type, const void* a, const float* lse_a, const void* b,
                     const float* lse_b, void* out, float* logsumexp, int64_t tokens, int64_t s,
                     int64_t heads, int64_t d, cudaStream_t stream) {
  if (tokens * heads * d == 0) return;
  by_type(type, [&]<typename T>() {
    by_pack<T>(packs<T>(d, a, b, out), [&]<typename, int V>() {
      const int64_t packs = tokens * heads * d / V;
      merge<T, V><<<static_cast<unsigned>(blocks_for(packs, kThreads)), kThreads, 0, stream>>>(
          static_cast<const T*>(a), lse_a, static_cast<const T*>(b), lse_b, static_cast<T*>(out),
          logsumexp, packs, s, heads, d);
    });
  });
}

}  // namespace heddle::kernels::cuda
