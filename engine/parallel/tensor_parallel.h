// Tensor parallelism (Megatron, arXiv 1909.08053), with sequence parallelism (arXiv 2205.05198) or
// without. Every rank has some heads, some of the feed-forward's width and some of the vocabulary.
// Between those regions tokens are spread over the ranks, any rows of [T, dim] being as good as any
// others, or each rank has all of them. Rows may pass in chunks: what one chunk exchanges hides
// behind the products of another (asynchronous tensor parallelism; arXiv 2409.15241 does so too).
#pragma once

#include <functional>
#include <vector>

#include "engine/parallel/exchange.h"

namespace heddle::parallel {

/// Work on some of the rows: [n, …] → [n, …].
using RowWork = std::function<at::Tensor(const at::Tensor& rows)>;
/// The same with several results; `first`: which of the T rows is the first of these.
using RowsWork = std::function<std::vector<at::Tensor>(const at::Tensor& rows, int64_t first)>;

struct TensorParallel {
  Group group;
  bool sequence = true;  // tokens are spread between the regions
  int64_t chunks = 1;    // of a rank's rows, equally many in each

  /// Into a region, before weights cut by rows: [T or T / ranks, dim] → [T, dim].
  at::Tensor enter(const at::Tensor& x) const;
  /// The same, and `work` on each chunk as soon as it is there: its results of all T rows.
  std::vector<at::Tensor> enter(const at::Tensor& x, const RowsWork& work) const;

  /// Out of it, behind a weight cut by columns: each rank's part of a sum [T, dim] → the sum, [T or
  /// T / ranks, dim].
  at::Tensor leave(const at::Tensor& part) const;
  /// The same of what `work` makes of x [T, …], each chunk as soon as it is made.
  at::Tensor leave(const at::Tensor& x, const RowWork& work) const;

  /// Into a region that has to do with each row by itself, and out of it.
  at::Tensor pass(const at::Tensor& x, const RowWork& work) const;

  /// Whether a rank sees but some of the tokens outside of the regions: gradients of what is not
  /// cut are then parts of a sum.
  bool spreads_tokens() const { return group.ranks > 1 && sequence; }

 private:
  at::Tensor gather(const at::Tensor& chunk) const;
  at::Tensor reduce(const at::Tensor& part) const;
  std::vector<at::Tensor> apart(const at::Tensor& rows) const;
};

}  // namespace heddle::parallel
