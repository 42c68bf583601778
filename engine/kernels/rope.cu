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

// The same for a row of queries, keys and values, which are apart on the other side: `Apart`: the
// results are apart, else the sources. Values are copied.
template <typename T, bool Apart>
struct Joined {
  using Row = std::conditional_t<Apart, const T, T>;
  using Part = std::conditional_t<Apart, T, const T>;
  Row* row;
  Part *q, *k, *v;
  int q_width, kv_width;
};

template <typename T, bool Apart, int V>
__global__ void rotate_joined(Joined<T, Apart> of, const float* table, const int64_t* positions,
                              int d, int64_t table_rows) {
  const int column = item_of_row() * V, turned = of.q_width + of.kv_width,
            width = turned + of.kv_width;
  if (column >= width) return;
  const int64_t token = blockIdx.x, position = positions[token];
  if (position < 0 || position >= table_rows) stop_run("position", position, table_rows);
  auto* row = of.row + token * width + column;
  auto* part = column < of.q_width ? of.q + token * of.q_width + column
               : column < turned   ? of.k + token * of.kv_width + column - of.q_width
                                   : of.v + token * of.kv_width + column - turned;
  float x[V];
  load_aligned<V == kPack<T>>(Apart ? row : part, x);
  if (column < turned) {
    float angles[V];
    load_aligned<V == kPack<T>>(table + position * d + column % d, angles);
#pragma unroll
    for (int j = 0; j < V; j += 2) {
      const float c = angles[j], s = Apart ? angles[j + 1] : -angles[j + 1], even = x[j],
                  odd = x[j + 1];
      x[j] = even * c - odd * s;
      x[j + 1] = odd * c + even * s;
    }
  }
  if constexpr (Apart) {
    store_aligned<V == kPack<T>>(part, x);
  } else {
    store_aligned<V == kPack<T>>(row, x);
  }
}

template <typename T, bool Apart>
void start_joined(const Joined<T, Apart>& of, const float* table, const int64_t* positions,
                  int64_t tokens, int64_t d, int64_t table_rows, cudaStream_t stream) {
  const int64_t width = of.q_width + 2 * int64_t{of.kv_width};
  if (tokens * width == 0) return;
  const auto start = [&]<int V>() {
    const RowGrid grid(width / V);
    launch(stream, tokens, grid.across, grid.threads, &rotate_joined<T, Apart, V>, of, table,
           positions, static_cast<int>(d), table_rows);
  };
  if (packs<T>(d, of.row, of.q, of.k, of.v, table)) {
    start.template operator()<kPack<T>>();
  } else {
    start.template operator()<2>();
  }
}

}  // namespace

void joined_rope(Type type, const void* qkv, const float* table, const int64_t* positions, void* q,
                 void* k, void* v, int64_t tokens, int64_t heads, int64_t kv_heads, int64_t d,
                 int64_t table_rows, cudaStream_t stream) {
  by_type(type, [&]<typename T>() {
    const Joined<T, true> of{static_cast<const T*>(qkv),  static_cast<T*>(q),
                             static_cast<T*>(k),          static_cast<T*>(v),
                             static_cast<int>(heads * d), static_cast<int>(kv_heads * d)};
    start_joined(of, table, positions, tokens, d, table_rows, stream);
  });
}

void joined_rope_backward(Type type, const void* dq, const void* dk, const void* dv,
                          const float* table, const int64_t* positions, void* gradient,
                          int64_t tokens, int64_t heads, int64_t kv_heads, int64_t d,
                          int64_t table_rows, cudaStream_t stream) {
  by_type(type, [&]<typename T>() {
    const Joined<T, false> of{static_cast<T*>(gradient),   static_cast<const T*>(dq),
                              static_cast<const T*>(dk),   static_cast<const T*>(dv),
                              static_cast<int>(heads * d), static_cast<int>(kv_heads * d)};
    start_joined(of, table, positions, tokens, d, table_rows, stream);
  });
}

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
