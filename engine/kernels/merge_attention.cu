#include "engine/kernels/device.cuh"

namespace heddle::kernels::cuda {
namespace {

// e^(part − whole), 0 for a part that saw nothing.
__device__ float share(float part, float whole) { return isinf(part) ? 0.0F : expf(part - whole); }

__device__ float log_of_sum(float a, float b) {
  const float top = fmaxf(a, b);
  return isinf(top) ? top : top + logf(expf(a - top) + expf(b - top));
}

// A row of the grid is a token, a thread V elements of one of its heads.
template <typename T, int V>
__global__ void merge(const T* a, const float* lse_a, const T* b, const float* lse_b, T* out,
                      float* logsumexp, int packs, unsigned s, int heads, int d) {
  const int pack = item_of_row();
  if (pack >= packs) return;
  const int head = pack * V / d;
  const unsigned sequence = blockIdx.x / s;
  const int64_t at = (static_cast<int64_t>(sequence) * heads + head) * s + blockIdx.x % s;
  const int64_t element = (static_cast<int64_t>(blockIdx.x) * packs + pack) * V;
  const float left = lse_a[at], right = lse_b[at], whole = log_of_sum(left, right);
  if (pack * V % d == 0) logsumexp[at] = whole;
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
      const RowGrid grid(heads * d / V);
      launch(stream, tokens, grid.across, grid.threads, &merge<T, V>, static_cast<const T*>(a),
             lse_a, static_cast<const T*>(b), lse_b, static_cast<T*>(out), logsumexp,
             static_cast<int>(heads * d / V), static_cast<unsigned>(s), static_cast<int>(heads),
             static_cast<int>(d));
    });
  });
}

}  // namespace heddle::kernels::cuda
