// Where a long call of attention is cut: into blocks of queries and blocks of keys, so that what a
// kernel needs for one of them besides its results does not grow with the sequence. By sizes alone:
// which keys are seen, and on which rank, is data, and a captured step is the same for all of it.
#pragma once

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace heddle::kernels {

/// Queries, or keys, [begin, begin + count) of a sequence.
struct Block {
  int64_t begin, count;
};

/// Queries of a piece; keys of one in backward, whose kernel has dk and dv of each query head.
inline constexpr int64_t kPieceQueries = 4096, kPieceKeysBackward = 4096;
/// Keys of a piece in forward.
inline constexpr int64_t kPieceKeys = 16384;
/// The most queries of a causal call that one call of a library's kernel takes; keys'
/// gradients are rounded after the sum over as many queries.
inline constexpr int64_t kWholeQueries = 16384;

/// Blocks of at most `most`, none across a multiple of `chunk`.
inline std::vector<Block> blocks_of(int64_t total, int64_t chunk, int64_t most) {
  std::vector<Block> blocks;
  for (int64_t begin = 0; begin < total;) {
    const int64_t end = std::min({total, begin + most, (begin / chunk + 1) * chunk});
    blocks.push_back({begin, end - begin});
    begin = end;
  }
  return blocks;
}

/// Blocks one after the other, as many together as are `most` at most, or one.
inline std::vector<std::vector<Block>> spans_of(const std::vector<Block>& blocks, int64_t most) {
  std::vector<std::vector<Block>> spans;
  for (const Block& block : blocks) {
    if (spans.empty() || block.begin + block.count - spans.back().front().begin > most)
      spans.emplace_back();
    spans.back().push_back(block);
  }
  return spans;
}

/// Whether blocks of queries have their own keys next to each other: queries come in whole pieces
/// of the keys' length, or are the keys' tokens. `pieces`: of keys; 0: they are in order.
inline bool can_be_cut(int64_t queries, int64_t keys, int64_t pieces) {
  if (pieces == 0) return queries == keys;
  return keys % pieces == 0 && keys > 0 && queries % (keys / pieces) == 0;
}

/// The most of each that a piece has; tests cut calls smaller.
struct Cuts {
  int64_t queries = kPieceQueries, keys = kPieceKeys, keys_backward = kPieceKeysBackward;
  int64_t whole = kWholeQueries;

  std::vector<Block> key_blocks(int64_t total, bool backward) const {
    return blocks_of(total, total, backward ? keys_backward : keys);
  }
};

/// Whether a call that can be cut is.
inline bool is_cut(int64_t queries, int64_t pieces, const Cuts& cuts = {}) {
  return pieces > 0 || queries > cuts.whole;
}

/// How many keys of a block may precede a block of queries, as far as sizes tell.
inline int64_t seen_before(const Block& queries, const Block& keys, bool in_order) {
  return in_order ? std::clamp<int64_t>(queries.begin - keys.begin, 0, keys.count) : keys.count;
}

/// Rows of queries whose products with all keys the composite holds at a time: of a kv head's query
/// heads together in at most so many bytes, if not of one row.
inline constexpr int64_t kCompositeBytes = int64_t{16} << 20;
inline int64_t composite_rows(int64_t queries, int64_t heads_of_kv_head, int64_t keys) {
  const int64_t row = heads_of_kv_head * keys * static_cast<int64_t>(sizeof(float));
  return std::clamp<int64_t>(kCompositeBytes / std::max<int64_t>(row, 1), 1,
                             std::max<int64_t>(queries, 1));
}

/// Whether flash attention computes in this type, with heads of this size.
inline bool flash_takes(c10::ScalarType type, int64_t head_dim) {
  return type == c10::kBFloat16 && head_dim % 8 == 0 && head_dim <= 256;
}

}  // namespace heddle::kernels
