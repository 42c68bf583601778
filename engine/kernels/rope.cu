#include "engine/kernels/device.cuh"

namespace heddle::kernels::cuda {
namespace {

// A row of the grid is a token, a thread V elements, V/2 pairs, of one of its heads.
template <typename T, int V>
__global__ void rotate(const T* x, const float* table, const int64_t* positions, T* y, int packs,
                       int d, int64_t table_rows, float sign) {
  const int pack = item_of_row();
  if (pack >= packs) return;
  const int64_t token = blockIdx.x, position = positions[token];
  if (position < 0 || position >= table_rows) stop_run("position", position, table_rows);
  x += (token * packs + pack) * V;
  y += (token * packs + pack) * V;
  table += position * d + pack * V % d;
  float v[V], angles[V];
  load_aligned<V == kPack<T>>(x, v);
  load_aligned<V == kPack<T>>(table, angles);
#pragma unroll
  for (int j = 0; j < V; j += 2) {
    const float c = angles[j], s = sign * angles[j + 1], even = v[j], odd = v[j + 1];
    v[j] = even * c - odd * s;
    v[j + 1] = odd * c + even * s;
  }
  store_aligned<V == kPack<T>>(y, v);
}

}  // namespace

void rope(Type type, const void* x, const float* table, const int64_t* positions, void* y,
          int64_t tokens, int64_t heads, int64_t d, int64_t table_rows, bool inverse,
          cudaStream_t stream) {
  if (tokens * heads * d == 0) return;
  by_type(type, [&]<typename T>() {
    const auto start = [&]<int V>() {
      const RowGrid grid(heads * d / V);
      launch(stream, tokens, grid.across, grid.threads, &rotate<T, V>, static_cast<const T*>(x),
             table, positions, static_cast<T*>(y), static_cast<int>(heads * d / V),
             static_cast<int>(d), table_rows, inverse ? -1.0F : 1.0F);
    };
    if (packs<T>(d, x, y, table)) {
      start.template operator()<kPack<T>>();
    } else {
      start.template operator()<2>();
    }
  });
}

}  // namespace heddle::kernels::cuda
