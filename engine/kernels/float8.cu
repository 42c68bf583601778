#include "engine/kernels/float8.cuh"

namespace heddle::kernels::cuda {
namespace {

using Number = __nv_bfloat16;

template <Float8 Format, int V>
__device__ void encode(const Number* x, float scale, uint8_t* to) {
  float v[V];
  load<V>(x, v);
  cuda::encode<Format>(v, scale, to);
}

// A block is a row.
template <Float8 Format, int V>
__global__ void encode_rows(const Number* x, uint8_t* to, float* inverse_scale, int64_t n) {
  const int64_t row = blockIdx.x;
  x += row * n;
  to += row * n;
  unsigned most = 0;
  for (int64_t i = threadIdx.x * V; i < n; i += kThreads * V) see<V>(x + i, most);
  most = reduce_block(most, 0U, Larger());
  const float scale = float8_scale(__uint_as_float(most), kLargest<Format>, true);
  if (threadIdx.x == 0) inverse_scale[row] = 1.0F / scale;
  for (int64_t i = threadIdx.x * V; i < n; i += kThreads * V)
    encode<Format, V>(x + i, scale, to + i);
}

// A block is a part of all numbers.
template <int V>
__global__ void largest_of_parts(const Number* x, unsigned* parts, int64_t n) {
  unsigned most = 0;
  const int64_t step = static_cast<int64_t>(gridDim.x) * kThreads * V;
  for (int64_t i = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) * V; i < n;
       i += step)
    see<V>(x + i, most);
  most = reduce_block(most, 0U, Larger());
  if (threadIdx.x == 0) parts[blockIdx.x] = most;
}

// The scale of all numbers; every thread of the block gets it, and all must call it.
template <Float8 Format>
__device__ float scale_of(const unsigned* parts, int64_t count) {
  unsigned most = 0;
  for (int64_t i = threadIdx.x; i < count; i += kThreads) most = Larger()(most, parts[i]);
  most = reduce_block(most, 0U, Larger());
  return float8_scale(__uint_as_float(most), kLargest<Format>, false);
}

template <Float8 Format, int V>
__global__ void encode_all(const Number* x, const unsigned* parts, uint8_t* to,
                           float* inverse_scale, int64_t n) {
  const float scale = scale_of<Format>(parts, gridDim.x);
  if (blockIdx.x == 0 && threadIdx.x == 0) *inverse_scale = 1.0F / scale;
  const int64_t step = static_cast<int64_t>(gridDim.x) * kThreads * V;
  for (int64_t i = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) * V; i < n;
       i += step)
    encode<Format, V>(x + i, scale, to + i);
}

// A block is some columns, a thread each, and a part of their rows; with fewer columns there are
// blocks enough without more parts, which all have to be read again.
constexpr int kColumnThreads = 128;
__global__ void largest_of_columns(const Number* x, unsigned* parts, int64_t rows, int64_t n) {
  const int64_t column = static_cast<int64_t>(blockIdx.x) * kColumnThreads + threadIdx.x;
  if (column >= n) return;
  const int64_t first = static_cast<int64_t>(blockIdx.y) * kFloat8Rows,
                end = min(rows, first + kFloat8Rows);
  unsigned most = 0;
  for (int64_t row = first; row < end; ++row) see<1>(x + row * n + column, most);
  parts[blockIdx.y * n + column] = most;
}

// A block is a square of x, transposed in the result; each thread has one of its columns.
// `by_row`: of the result; parts belong to columns then, else to all numbers.
constexpr int kSide = 64;
template <Float8 Format>
__global__ void encode_turned(const Number* x, const unsigned* parts, int64_t count, bool by_row,
                              uint8_t* to, float* inverse_scale, int64_t rows, int64_t n) {
  __shared__ uint8_t square[kSide][kSide + 4];
  constexpr int kStep = kThreads / kSide;
  const int lane = static_cast<int>(threadIdx.x) % kSide,
            group = static_cast<int>(threadIdx.x) / kSide;
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * kSide,
                first_column = static_cast<int64_t>(blockIdx.x) * kSide;
  const int64_t column = first_column + lane;
  float scale = 0;
  if (!by_row) {
    scale = scale_of<Format>(parts, count);
  } else if (column < n) {
    unsigned most = 0;
    for (int64_t i = 0; i < count; ++i) most = Larger()(most, parts[i * n + column]);
    scale = float8_scale(__uint_as_float(most), kLargest<Format>, true);
  }
  const bool tells = blockIdx.y == 0 && group == 0 && (by_row ? column < n : column == 0);
  if (tells) inverse_scale[column] = 1.0F / scale;
  for (int row = group; row < kSide; row += kStep)
    if (first_row + row < rows && column < n)
      square[lane][row] = encoded<Format>(to_float(x[(first_row + row) * n + column]) * scale);
  __syncthreads();
  for (int turned = group; turned < kSide; turned += kStep)
    if (first_column + turned < n && first_row + lane < rows)
      to[(first_column + turned) * rows + first_row + lane] = square[turned][lane];
}

template <Float8 Format>
void turned(const void* x, uint8_t* to, float* inverse_scale, unsigned* parts, int64_t rows,
            int64_t n, bool by_row, cudaStream_t stream) {
  const auto* numbers = static_cast<const Number*>(x);
  const int64_t count = float8_parts(rows, n, by_row, true) / (by_row ? n : 1);
  if (by_row) {
    launch(stream, blocks_for(n, kColumnThreads), count, kColumnThreads, &largest_of_columns,
           numbers, parts, rows, n);
  } else {
    by_pack<Number>(packs<Number>(rows * n, x), [&]<typename, int V>() {
      launch(stream, count, &largest_of_parts<V>, numbers, parts, rows * n);
    });
  }
  launch(stream, blocks_for(n, kSide), blocks_for(rows, kSide), kThreads, &encode_turned<Format>,
         numbers, parts, count, by_row, to, inverse_scale, rows, n);
}

template <Float8 Format, int V>
void straight(const void* x, uint8_t* to, float* inverse_scale, unsigned* parts, int64_t rows,
              int64_t n, bool by_row, cudaStream_t stream) {
  const auto* numbers = static_cast<const Number*>(x);
  if (by_row) {
    launch(stream, rows, &encode_rows<Format, V>, numbers, to, inverse_scale, n);
    return;
  }
  const int64_t count = float8_parts(rows, n, false, false);
  launch(stream, count, &largest_of_parts<V>, numbers, parts, rows * n);
  launch(stream, count, &encode_all<Format, V>, numbers, parts, to, inverse_scale, rows * n);
}

template <Float8 Format>
void quantize(const void* x, uint8_t* to, float* inverse_scale, unsigned* parts, int64_t rows,
              int64_t n, bool by_row, bool transposed, cudaStream_t stream) {
  if (transposed) return turned<Format>(x, to, inverse_scale, parts, rows, n, by_row, stream);
  by_pack<Number>(packs<Number>(by_row ? n : rows * n, x, to), [&]<typename, int V>() {
    straight<Format, V>(x, to, inverse_scale, parts, rows, n, by_row, stream);
  });
}

}  // namespace

void float8_quantize(Float8 format, const void* x, void* values, float* inverse_scale,
                     unsigned* parts, int64_t rows, int64_t n, bool by_row, bool transposed,
                     cudaStream_t stream) {
  if (rows == 0 || n == 0) return;
  auto* to = static_cast<uint8_t*>(values);
  if (format == Float8::e4m3) {
    quantize<Float8::e4m3>(x, to, inverse_scale, parts, rows, n, by_row, transposed, stream);
  } else {
    quantize<Float8::e5m2>(x, to, inverse_scale, parts, rows, n, by_row, transposed, stream);
  }
}

}  // namespace heddle::kernels::cuda
