// Which thread block of a launch works on what, where the host must know it too.
#pragma once

#include <algorithm>
#include <cstdint>

#if defined(__CUDACC__)
#define HEDDLE_ON_DEVICE __host__ __device__
#else
#define HEDDLE_ON_DEVICE
#endif

namespace heddle::kernels::cuda {

HEDDLE_ON_DEVICE inline int64_t blocks_for(int64_t items, int64_t per_block) {
  return (items + per_block - 1) / per_block;
}

/// Partial sums of dweight that rms_norm_backward makes of so many rows, one a block: four for each
/// multiprocessor of an H100, which runs them all at once.
inline int64_t norm_blocks(int64_t rows) {
  constexpr int64_t kMax = 4 * 132;
  return rows == 0 ? 0 : blocks_for(rows, blocks_for(rows, kMax));
}

/// Rows of which float8_quantize looks for the largest number of a column at once.
inline constexpr int64_t kFloat8Rows = 256;
/// Largest numbers that it keeps: of parts of all numbers, as many parts as an H100 works on at
/// once; of each column of so many rows; none of rows, which it has at once.
inline int64_t float8_parts(int64_t rows, int64_t n, bool by_row, bool transposed) {
  constexpr int64_t kMax = 4 * 132, kNumbers = 16384;
  if (!by_row) return std::min(kMax, blocks_for(rows * n, kNumbers));
  return transposed ? blocks_for(rows, kFloat8Rows) * n : 0;
}

/// Tensors that one launch takes: what a kernel's arguments have room for.
inline constexpr int kListed = 48;
/// Elements that a block of squared_norms, cast_list, float8_largest or adamw_ works on.
inline constexpr int64_t kListChunk = 16384;

struct ListBlocks {
  int64_t elements[kListed] = {};
  int32_t first[kListed + 1] = {};  // block of each tensor, and behind the last one
  int32_t count = 0;                // tensors
  int64_t chunk = 0;                // elements of a block

  /// Adds a tensor; an empty one gets no block. There must be room.
  void add(int64_t size) {
    elements[count] = size;
    first[count + 1] = first[count] + static_cast<int32_t>((size + chunk - 1) / chunk);
    ++count;
  }
  int32_t blocks() const { return first[count]; }

  HEDDLE_ON_DEVICE int tensor_of(int block) const {
    int tensor = 0;
    while (block >= first[tensor + 1]) ++tensor;
    return tensor;
  }
  HEDDLE_ON_DEVICE int64_t begin(int block, int tensor) const {
    return static_cast<int64_t>(block - first[tensor]) * chunk;
  }
  HEDDLE_ON_DEVICE int64_t end(int block, int tensor) const {
    const int64_t end = begin(block, tensor) + chunk;
    return end < elements[tensor] ? end : elements[tensor];
  }
};

}  // namespace heddle::kernels::cuda
