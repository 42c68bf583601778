// Bytes that attention allocates on a GPU besides its results, by sizes: the buffers of LibTorch's
// kernels (flash_api.cpp there), of pieces (attention_pieces.h) and of the composite. Each is
// rounded up to 64 bytes; workspaces of cuBLAS and cuDNN are not counted.
#pragma once

#include "engine/kernels/attention_blocks.h"
#include "engine/kernels/documents.h"
#include "engine/kernels/scratch.h"

namespace heddle::kernels {

/// q [batch, queries, heads, head_dim]; k, v [batch, keys, kv_heads, head_dim].
struct AttentionSizes {
  c10::ScalarType type;
  int64_t batch, queries, keys, heads, kv_heads, head_dim;
  bool ranges;              // first and last keys are given
  int64_t pieces;           // of keys that do not come in order; else 0
  int64_t in_order_on = 0;  // graph::Workplace

  /// A call on a block of each, of one sequence.
  AttentionSizes of(int64_t some_queries, int64_t some_keys) const {
    AttentionSizes sizes = *this;
    sizes.batch = 1;
    sizes.queries = some_queries;
    sizes.keys = some_keys;
    return sizes;
  }
  bool is_by_library() const {
    return flash_takes(type, head_dim) && can_be_cut(queries, keys, pieces);
  }
  bool is_in_pieces() const { return is_by_library() && is_cut(queries, pieces); }

  int64_t query_elements() const { return batch * queries * heads * head_dim; }
  int64_t key_elements() const { return batch * keys * kv_heads * head_dim; }
  int64_t rows() const { return batch * queries * heads; }
};

inline constexpr int64_t kBf16Bytes = 2, kFloatBytes = 4, kIndexBytes = 8;

/// The buffers that hold a random state's place.
inline constexpr int64_t kSmallBuffers = 4096;

/// Logsumexp in the kernel's order and in ours.
inline int64_t library_forward(const AttentionSizes& sizes) {
  return kSmallBuffers + 2 * aligned(sizes.rows() * kFloatBytes);
}

/// How many sums of dq there are. Blocks of keys add to one in any order, or, for one order, as
/// many blocks as a GPU runs at a time to one each.
inline int64_t query_sums(const AttentionSizes& sizes, int64_t documents) {
  const int64_t sequences = sizes.batch * (sizes.ranges ? documents : 1) * sizes.heads;
  return sizes.in_order_on == 0 ? 1 : (sizes.in_order_on + sequences - 1) / sequences;
}

/// Sums of dq and a number a row, rows rounded up for each segment; with grouped heads dk and dv of
/// each query head.
inline int64_t library_backward(const AttentionSizes& sizes, int64_t documents) {
  constexpr int64_t kTokens = 128, kHeadDim = 32;
  const auto rounded = [](int64_t n, int64_t to) { return (n + to - 1) / to * to; };
  const int64_t rows =
      sizes.batch * (rounded(sizes.queries, kTokens) + kTokens * documents) * sizes.heads;
  const int64_t expanded =
      sizes.kv_heads == sizes.heads
          ? 0
          : 2 * aligned(sizes.batch * sizes.keys * sizes.heads * sizes.head_dim * kBf16Bytes);
  return kSmallBuffers + aligned(sizes.rows() * kFloatBytes) + aligned(rows * kFloatBytes) +
         query_sums(sizes, documents) *
             aligned(rows * rounded(sizes.head_dim, kHeadDim) * kFloatBytes) +
         expanded;
}

/// Copies of keys and values that do not lie next to each other.
inline int64_t gathered(const AttentionSizes& sizes) {
  return sizes.pieces == 0 ? 0 : 2 * aligned(sizes.key_elements() * kBf16Bytes);
}

inline int64_t chunk_of(const AttentionSizes& sizes) {
  return sizes.pieces == 0 ? sizes.keys : sizes.keys / sizes.pieces;
}

inline int64_t pieces_forward(const AttentionSizes& sizes) {
  const int64_t queries = std::min({sizes.queries, chunk_of(sizes), kPieceQueries}),
                keys = std::min(sizes.keys, kPieceKeys);
  const AttentionSizes own = sizes.of(queries, queries), range = sizes.of(queries, keys);
  const int64_t result = aligned(range.query_elements() * kBf16Bytes),
                sum = aligned(range.query_elements() * kFloatBytes),
                numbers = aligned(range.rows() * kFloatBytes);
  const int64_t of_own = gathered(own) + result + library_forward(own);
  // The part in fp32 is weighed in place; five sets of a number a row weigh it.
  const int64_t of_range =
      gathered(range) + result + library_forward(range) + sum + 5 * numbers + 2 * numbers;
  return sum + numbers + std::max(of_own, of_range);
}

inline int64_t pieces_backward(const AttentionSizes& sizes) {
  const int64_t queries = std::min({sizes.queries, chunk_of(sizes), kPieceQueries}),
                keys = std::min(sizes.keys, kPieceKeysBackward);
  const AttentionSizes own = sizes.of(queries, queries), range = sizes.of(queries, keys);
  const auto gradients = [](const AttentionSizes& of) {
    return aligned(of.query_elements() * kBf16Bytes) + 2 * aligned(of.key_elements() * kBf16Bytes) +
           aligned(of.rows() * kFloatBytes);
  };
  const int64_t sums = 2 * aligned(range.key_elements() * kFloatBytes);
  const int64_t of_own =
      gathered(own) + gradients(own) + library_backward(own, cuda::kPieceDocuments);
  const int64_t of_range = gathered(range) + sums +
                           std::max(gradients(range) + library_backward(range, 4),
                                    2 * aligned(range.key_elements() * kBf16Bytes));
  int64_t most = 0;
  for (const auto& span :
       spans_of(blocks_of(sizes.queries, chunk_of(sizes), kPieceQueries), kWholeQueries)) {
    const int64_t summed = span.back().begin + span.back().count - span.front().begin;
    most = std::max(most, aligned(sizes.of(summed, keys).query_elements() * kFloatBytes));
  }
  return most + std::max(of_own, of_range);
}

/// Products of rows with keys, `products` of them at a time; fp32 copies of k and v where they are
/// not, and of dk and dv in backward.
inline int64_t composite_scratch(const AttentionSizes& sizes, int64_t products) {
  const int64_t rows = composite_rows(sizes.queries, sizes.heads / sizes.kv_heads, sizes.keys);
  const int64_t converted =
      sizes.type == c10::kFloat ? 0 : aligned(sizes.key_elements() * kFloatBytes);
  // Sets of a number a row, each rounded up for each block of rows.
  const int64_t sets = products == 1 ? 8 : 4, blocks = (sizes.queries + rows - 1) / rows;
  const int64_t numbers = sets * (sizes.rows() * kFloatBytes + sizes.batch * blocks * 64);
  return aligned(products * sizes.heads * rows * sizes.keys * kFloatBytes) +
         aligned(3 * sizes.heads * rows * sizes.head_dim * kFloatBytes) +
         aligned(2 * rows * sizes.keys) + 3 * aligned(sizes.keys * kIndexBytes) +
         aligned(sizes.queries * kIndexBytes) + numbers + 2 * products * converted;
}

inline int64_t gpu_forward_scratch(const AttentionSizes& sizes) {
  if (sizes.is_in_pieces()) return pieces_forward(sizes);
  if (!sizes.is_by_library()) return composite_scratch(sizes, 1);
  return library_forward(sizes);
}

inline int64_t gpu_backward_scratch(const AttentionSizes& sizes) {
  if (sizes.is_in_pieces()) return pieces_backward(sizes);
  if (!sizes.is_by_library()) return composite_scratch(sizes, 2);
  return library_backward(sizes, sizes.ranges ? cuda::kDocuments : 0);
}

}  // namespace heddle::kernels
