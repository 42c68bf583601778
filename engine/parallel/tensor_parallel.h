// Tensor parallelism (Megatron, arXiv 1909.08053), with sequence parallelism (arXiv 2205.05198) or
// without. Every rank has some heads, some of the feed-forward's width and some of the vocabulary.
// Between those regions tokens are spread over the ranks, any rows of [T, dim] being as good as any
// others, or each rank has all of them.
#pragma once

#include "engine/parallel/exchange.h"

namespace heddle::parallel {

struct TensorParallel {
  Group group;
  bool sequence = true;  // tokens are spread between the regions

  /// Into a region, before weights cut by rows: [T or T / ranks, dim] → [T, dim].
  at::Tensor enter(const at::Tensor& x) const;
  /// Out of it, behind a weight cut by columns: each rank's part of a sum [T, dim] → the sum, [T or
  /// T / ranks, dim].
  at::Tensor leave(const at::Tensor& part) const;

  /// Whether a rank sees but some of the tokens outside of the regions: gradients of what is not
  /// cut are then parts of a sum.
  bool spreads_tokens() const { return group.ranks > 1 && sequence; }
};

}  // namespace heddle::parallel
