#include "engine/kernels/float8.cuh"

namespace heddle::kernels::cuda {
namespace {

__device__ float in_bf16(float x) { return to_float(from_float<__nv_bfloat16>(x)); }

// A block is a chunk of one tensor.
__global__ void largest_of_chunks(ListBlocks blocks, Inputs tensors, unsigned* parts) {
  constexpr int kAtOnce = kPack<float>;
  const int block = static_cast<int>(blockIdx.x), tensor = blocks.tensor_of(block);
  const auto* x = static_cast<const float*>(tensors.of[tensor]);
  const int64_t begin = blocks.begin(block, tensor), end = blocks.end(block, tensor);
  const int64_t whole = whole_packs<kAtOnce>(begin, end, x);
  unsigned most = 0;
  for (int64_t i = begin + threadIdx.x * kAtOnce; i < whole; i += kThreads * kAtOnce)
    see<kAtOnce>(x + i, most);
  for (int64_t i = whole + threadIdx.x; i < end; i += kThreads) see<1>(x + i, most);
  most = reduce_block(most, 0U, Larger());
  if (threadIdx.x == 0) parts[block] = most;
}

// A block is a tensor. Rounding keeps the order.
__global__ void largest_of_tensors(ListBlocks blocks, const unsigned* parts, float* largest) {
  const int tensor = static_cast<int>(blockIdx.x);
  unsigned most = 0;
  for (int i = blocks.first[tensor] + static_cast<int>(threadIdx.x); i < blocks.first[tensor + 1];
       i += kThreads)
    most = Larger()(most, parts[i]);
  most = reduce_block(most, 0U, Larger());
  if (threadIdx.x == 0) largest[tensor] = in_bf16(__uint_as_float(most));
}

template <int V>
__global__ void encode_shard(const float* x, const float* largest, uint8_t* to,
                             float* inverse_scale, int64_t n) {
  const float scale = float8_scale(*largest, E4m3::kLargest, false);
  if (blockIdx.x == 0 && threadIdx.x == 0) *inverse_scale = 1.0F / scale;
  const int64_t step = static_cast<int64_t>(gridDim.x) * kThreads * V;
  for (int64_t i = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) * V; i < n;
       i += step) {
    float v[V];
    load<V>(x + i, v);
#pragma unroll
    for (int j = 0; j < V; ++j) v[j] = in_bf16(v[j]);
    encode<Float8::e4m3>(v, scale, to + i);
  }
}

// A block is a square of x, transposed in the result; each thread has one of its columns.
constexpr int kSide = 64;
__global__ void turn(const uint8_t* x, uint8_t* to, int64_t rows, int64_t n) {
  __shared__ uint8_t square[kSide][kSide + 4];
  constexpr int kStep = kThreads / kSide;
  const int lane = static_cast<int>(threadIdx.x) % kSide,
            group = static_cast<int>(threadIdx.x) / kSide;
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * kSide,
                first_column = static_cast<int64_t>(blockIdx.x) * kSide;
  for (int row = group; row < kSide; row += kStep)
    if (first_row + row < rows && first_column + lane < n)
      square[lane][row] = x[(first_row + row) * n + first_column + lane];
  __syncthreads();
  for (int turned = group; turned < kSide; turned += kStep)
    if (first_column + turned < n && first_row + lane < rows)
      to[(first_column + turned) * rows + first_row + lane] = square[turned][lane];
}

}  // namespace

void float8_largest(const ListBlocks& blocks, const Inputs& shards, unsigned* parts, float* largest,
                    cudaStream_t stream) {
  if (blocks.blocks() > 0)
    launch(stream, blocks.blocks(), &largest_of_chunks, blocks, shards, parts);
  if (blocks.count > 0) launch(stream, blocks.count, &largest_of_tensors, blocks, parts, largest);
}

void float8_cast(const float* shard, const float* largest, void* values, float* inverse_scale,
                 int64_t n, cudaStream_t stream) {
  auto* to = static_cast<uint8_t*>(values);
  by_pack<__nv_bfloat16>(packs<__nv_bfloat16>(n, shard, to), [&]<typename, int V>() {
    const int64_t blocks = float8_parts(1, n == 0 ? 1 : n, false, false);
    launch(stream, blocks, &encode_shard<V>, shard, largest, to, inverse_scale, n);
  });
}

void float8_transpose(const void* x, void* to, int64_t rows, int64_t n, cudaStream_t stream) {
  if (rows == 0 || n == 0) return;
  launch(stream, blocks_for(n, kSide), blocks_for(rows, kSide), kThreads, &turn,
         static_cast<const uint8_t*>(x), static_cast<uint8_t*>(to), rows, n);
}

}  // namespace heddle::kernels::cuda
