// Numbers that attention's kernels need about the keys that queries see, besides the first and the
// last of each: the host finds them once a micro-batch, all layers read them. They are one tensor
// of int64, whose size follows from the sizes of a call.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "engine/kernels/attention_blocks.h"
#include "engine/kernels/documents.h"
#include "engine/kernels/operators.h"
#include "engine/kernels/sight.h"

namespace heddle::kernels {

/// Sizes of a call whose queries see ranges of keys; `pieces`: of the keys, 0 where these are in
/// order.
struct SightSizes {
  int64_t batch, queries, keys, pieces;
  Cuts cuts = {};

  int64_t chunk() const { return pieces == 0 ? keys : keys / pieces; }
  std::vector<Block> query_blocks() const { return blocks_of(queries, chunk(), cuts.queries); }
};

/// Documents as flash attention takes them.
struct Segments {
  at::Tensor starts;  // int32 [capacity + 1]: see find_documents
  at::Tensor found;   // int32 [2]
};

/// How a block of queries of a sequence sees keys of its own tokens, and keys before these (see
/// attention_pieces.h).
struct BlockSight {
  at::Tensor first;           // int64 [1, n]: of keys counted from the block's first token
  Segments segments;          // of its documents; zeros where its own keys are not all there
  at::Tensor absent, astray;  // bool []: its own keys are not all there; but some of them are
  at::Tensor rows;            // int64 [n]: where its own keys lie; undefined: where queries do
  at::Tensor query_ends;      // int32 [5], of a SeenRange
};

/// Where in the tensor which numbers lie: parts of it, which share its memory.
class SightNumbers {
 public:
  explicit SightNumbers(const SightSizes& sizes);

  int64_t count() const { return count_; }

  /// [batch, blocks of kSightRows queries, pieces or 1, 2]: of each piece the keys [begin, end),
  /// from its start, that any of the queries sees; none where begin is not below end.
  at::Tensor seen(const at::Tensor& sight) const;

  /// Whether queries have their own keys next to each other, and whether they are cut into blocks.
  /// The members below are only for such queries.
  bool can_be_cut() const { return can_be_cut_; }
  bool is_cut() const { return is_cut_; }

  /// The segments of all sequences, uncut.
  Segments segments(const at::Tensor& sight) const;

  /// The sight of the i-th block of the b-th sequence.
  BlockSight block(const at::Tensor& sight, int64_t b, int64_t i) const;
  /// Where the segments of the j-th block of keys end for it, int32 [5], of a SeenRange.
  at::Tensor range(const at::Tensor& sight, int64_t b, int64_t i, int64_t j, bool backward) const;
  /// Keys by their position: where they lie, int64 [keys]; undefined where they are in order.
  at::Tensor order(const at::Tensor& sight) const;

 private:
  at::Tensor longs(const at::Tensor& sight, int64_t at, int64_t count) const;
  at::Tensor ints(const at::Tensor& sight, int64_t at, int64_t count) const;

  SightSizes sizes_;
  bool can_be_cut_, is_cut_;
  std::vector<Block> blocks_;
  int64_t forward_ranges_ = 0, ranges_ = 0;  // of a block of queries
  int64_t cut_ = 0, order_ = 0, rows_ = 0, records_ = 0, record_ = 0, count_ = 0;
};

/// first, last: int64 [batch, queries]; starts: int64, one a piece, if any; all on the CPU, as is
/// the result.
at::Tensor sight_of(const at::Tensor& first, const at::Tensor& last, const Optional& starts,
                    int64_t keys, const Cuts& cuts = {});

/// Keys with what follows from them.
Keys keys_of(const at::Tensor& first, const at::Tensor& last, const Optional& starts, int64_t keys);

}  // namespace heddle::kernels
