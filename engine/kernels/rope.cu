#include "engine/kernels/device.cuh"

namespace heddle::kernels::cuda {
namespace {

// A thread is V elements, V/2 pairs, of one head of one token.
template <typename T, int V>
__global__ void rotate(const T* x, const float* table, const int64_t* positions, T* y,
                       int64_t packs, int64_t heads, int64_t d, int64_t table_rows, float sign) {
  const int64_t pack = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (pack >= packs) return;
  const int64_t element = pack * V, token = element / (heads * d), i = element % d;
  const int64_t position = positions[token];
  if (position < 0 || position >= table_rows) stop_run("position", position, table_rows);
  float v[V];
  load<V>(x + element, v);
  const float* angles = table + position * d + i;
#pragma unroll
  for (int j = 0; j < V; j += 2) {
    const float c = angles[j], s = sign * angles[j + 1], even = v[j], odd = v[j + 1];
    v[j] = even * c - odd * s;
    v[j + 1] = odd * c + even * s;
  }
  store<V>(y + element, v);
}

}  // namespace

void rope(Type type, const void* x, const float* table, const int64_t* positions, void* y,
          int64_t tokens, int64_t heads, int64_t d, int64_t table_rows, bool inverse,
          cudaStream_t stream) {
  if (tokens * heads * d == 0) return;
  by_type(type, [&]<typename T>() {
    const auto launch = [&]<int V>() {
      const int64_t packs = tokens * heads * d / V;
      rotate<T, V><<<static_cast<unsigned>(blocks_for(packs, kThreads)), kThreads, 0, stream>>>(
          static_cast<const T*>(x), table, positions, static_cast<T*>(y), packs, heads, d,
          table_rows, inverse ? -1.0F : 1.0F);
    };
    if (packs<T>(d, x, y)) {
      launch.template operator()<kPack<T>>();
    } else {
      launch.template operator()<2>();
    }
  });
}

}  // namespace heddle::kernels::cuda
