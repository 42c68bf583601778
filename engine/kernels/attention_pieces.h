// Attention over long sequences, and over keys from several ranks, by a library's kernels in pieces
// (attention_blocks.h): of a block of queries the keys of the same tokens, which they see as causal
// documents, and blocks of the keys before these, of which some queries see a range. Results are
// merged by their logsumexp, gradients summed in fp32 (arXiv 2307.08691, 2310.01889). Which keys
// are seen stays on the device.
//
// A `Library` has, all for one sequence, q [1, n, H, D] and k, v [1, m, K, D]:
//   documents(q, k, v, sight, scale): n = m; result and logsumexp [1, H, n]
//   range(q, k, v, range, scale): the same of queries that see some of the keys before them, zeros
//     and −∞ for those that see none
//   documents_backward, range_backward(dout, q, k, v, out, logsumexp, …): dq, dk, dv
//   Scratch: what is allocated while one lives may be given to the next
#pragma once

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <limits>
#include <tuple>

#include "engine/kernels/sight_numbers.h"

namespace heddle::kernels {

/// The keys of the same tokens that a block's queries see.
struct OwnKeys {
  Optional first;     // int64 [1, n], counted from the block's first token; none: causal
  Segments segments;  // and its documents; where its own keys are not all there anything may result
};

/// Which queries of a block see which keys before them: int32 [5] each, the ends of the segments of
/// queries and of keys, from 0 on. Queries of the second segment see its keys and no others; the
/// first and the last have no queries, the third has no keys. None: all see all.
struct SeenRange {
  Optional queries, keys;
};

/// A call of attention in pieces; see `Keys` in operators.h. Either keys are in order and as many
/// as queries, or they come in pieces, of whose length queries come too. Queries see, from some key
/// on, all up to their own token's: else the result is NaN.
struct PiecedCall {
  at::Tensor q, k, v;  // contiguous
  int64_t pieces;      // of keys that do not come in order; else 0
  Optional sight;      // none: causal
  double scale;
  Cuts cuts = {};

  SightSizes sizes() const { return {q.size(0), q.size(1), k.size(1), pieces, cuts}; }
  std::vector<Block> key_blocks(bool backward) const {
    return cuts.key_blocks(k.size(1), backward);
  }
  at::Tensor sequence(const at::Tensor& x, int64_t b) const { return x.narrow(0, b, 1); }
};

/// The keys that a call's queries see, read from its numbers.
class CallSight {
 public:
  explicit CallSight(const PiecedCall& call)
      : sight_(call.sight), numbers_(call.sizes()), in_order_(call.pieces == 0) {
    if (sight_) order_ = numbers_.order(*sight_);
  }

  /// Where the keys of a block lie; undefined: there.
  at::Tensor rows(const Block& block) const {
    return order_.defined() ? order_.narrow(0, block.begin, block.count) : at::Tensor();
  }
  bool is_in_order() const { return in_order_; }
  const SightNumbers& numbers() const { return numbers_; }
  const Optional& sight() const { return sight_; }

 private:
  Optional sight_;
  SightNumbers numbers_;
  bool in_order_;
  at::Tensor order_;
};

/// The i-th block of queries of the b-th sequence, and what it sees.
class QueryBlock {
 public:
  QueryBlock(const CallSight& seen, int64_t b, int64_t i, const Block& block)
      : seen_(&seen), b_(b), i_(i), block_(block) {
    if (seen.sight()) sight_ = seen.numbers().block(*seen.sight(), b, i);
  }

  const Block& queries() const { return block_; }
  OwnKeys own() const {
    if (!seen_->sight()) return {};
    return {sight_.first, sight_.segments};
  }
  /// Where its own keys lie; undefined: where the queries do.
  const at::Tensor& rows() const { return sight_.rows; }
  at::Tensor of(const at::Tensor& x) const { return x.narrow(1, block_.begin, block_.count); }

  /// How many of a block of keys may be seen, as far as is known without the data.
  int64_t seen_of(const Block& keys) const {
    return seen_before(block_, keys, seen_->is_in_order());
  }
  /// The range that queries see of the j-th block of keys.
  SeenRange seen(int64_t j, bool backward) const {
    if (!seen_->sight()) return {};
    return {sight_.query_ends, seen_->numbers().range(*seen_->sight(), b_, i_, j, backward)};
  }

  /// `x` where the block's own keys are there, else `instead`.
  void clear_if_absent(at::Tensor x, double instead = 0) const {
    if (sight_.rows.defined()) x.masked_fill_(sight_.absent, instead);
  }
  void spoil_if_astray(at::Tensor x) const {
    if (seen_->sight()) x.masked_fill_(sight_.astray, std::numeric_limits<double>::quiet_NaN());
  }

 private:
  const CallSight* seen_;
  int64_t b_, i_;
  Block block_;
  BlockSight sight_;
};

/// Rows of x [1, N, …]; undefined rows: the block's.
inline at::Tensor taken(const at::Tensor& x, const at::Tensor& rows, const Block& block) {
  return rows.defined() ? x.index_select(1, rows) : x.narrow(1, block.begin, block.count);
}
inline void add_to(at::Tensor x, const at::Tensor& rows, const Block& block,
                   const at::Tensor& value) {
  if (rows.defined()) {
    x.index_add_(1, rows, value.to(x.scalar_type()));
  } else {
    x.narrow(1, block.begin, block.count).add_(value);
  }
}
inline void put(at::Tensor x, const at::Tensor& rows, const Block& block, const at::Tensor& value) {
  if (rows.defined()) {
    x.index_copy_(1, rows, value.to(x.scalar_type()));
  } else {
    x.narrow(1, block.begin, block.count).copy_(value);
  }
}

/// sum [1, n, H, D] and lse [1, H, n], fp32, of some keys: with a part over others.
inline void merge_into(at::Tensor sum, at::Tensor lse, const at::Tensor& part,
                       const at::Tensor& part_lse) {
  const at::Tensor whole = at::logaddexp(lse, part_lse);
  const auto share = [&](const at::Tensor& of) {
    return of.sub(whole).exp_().nan_to_num_(0).transpose(1, 2).unsqueeze(-1);
  };
  sum.mul_(share(lse)).add_(part.to(at::kFloat).mul_(share(part_lse)));
  lse.copy_(whole);
}

template <typename Library>
std::tuple<at::Tensor, at::Tensor> attention_in_pieces(const PiecedCall& call) {
  const auto& [q, k, v, pieces, sight, scale, cuts] = call;
  const int64_t batch = q.size(0), s = q.size(1), heads = q.size(2), d = q.size(3);
  at::Tensor out = at::empty_like(q),
             logsumexp = at::empty({batch, heads, s}, q.options().dtype(at::kFloat));
  const CallSight seen(call);
  const std::vector<Block> blocks = call.sizes().query_blocks();
  for (int64_t b = 0; b < batch; ++b) {
    const at::Tensor keys = call.sequence(k, b), values = call.sequence(v, b);
    for (size_t i = 0; i < blocks.size(); ++i) {
      const typename Library::Scratch of_block;
      const Block& queries = blocks[i];
      const QueryBlock block(seen, b, static_cast<int64_t>(i), queries);
      const at::Tensor rows = block.of(call.sequence(q, b));
      const at::Tensor sum = at::empty({1, queries.count, heads, d}, logsumexp.options()),
                       lse = at::empty({1, heads, queries.count}, logsumexp.options());
      {
        const typename Library::Scratch of_piece;
        const auto [part, part_lse] =
            Library::documents(rows, taken(keys, block.rows(), queries),
                               taken(values, block.rows(), queries), block.own(), scale);
        sum.copy_(part);
        lse.copy_(part_lse);
        block.clear_if_absent(sum);
        block.clear_if_absent(lse, -std::numeric_limits<double>::infinity());
        block.spoil_if_astray(sum);
      }
      const std::vector<Block> key_blocks = call.key_blocks(false);
      for (size_t j = 0; j < key_blocks.size(); ++j) {
        const Block& some = key_blocks[j];
        const int64_t count = block.seen_of(some);
        if (count == 0) continue;
        const typename Library::Scratch of_piece;
        const at::Tensor at_rows = seen.rows(some);
        const auto [part, part_lse] =
            Library::range(rows, taken(keys, at_rows, some).narrow(1, 0, count),
                           taken(values, at_rows, some).narrow(1, 0, count),
                           block.seen(static_cast<int64_t>(j), false), scale);
        merge_into(sum, lse, part, part_lse);
      }
      block.of(call.sequence(out, b)).copy_(sum);
      logsumexp.narrow(0, b, 1).narrow(2, queries.begin, queries.count).copy_(lse);
    }
  }
  return {out, logsumexp};
}

/// dout, out and logsumexp are of all keys, these and others, as in
/// `attention_part_backward`.
template <typename Library>
std::tuple<at::Tensor, at::Tensor, at::Tensor> attention_in_pieces_backward(
    const PiecedCall& call, const at::Tensor& dout, const at::Tensor& out,
    const at::Tensor& logsumexp) {
  const auto& [q, k, v, pieces, sight, scale, cuts] = call;
  const int64_t batch = q.size(0), heads = q.size(2), d = q.size(3);
  at::Tensor dq = at::empty_like(q), dk = at::empty_like(k), dv = at::empty_like(v);
  const CallSight seen(call);
  const std::vector<Block> blocks = call.sizes().query_blocks();
  const auto fp32 = q.options().dtype(at::kFloat);
  for (int64_t b = 0; b < batch; ++b) {
    const at::Tensor keys = call.sequence(k, b), values = call.sequence(v, b),
                     dkeys = call.sequence(dk, b), dvalues = call.sequence(dv, b);
    int64_t i = 0;  // the block that is next
    for (const auto& span : spans_of(blocks, cuts.whole)) {
      const typename Library::Scratch of_all;
      const int64_t begin = span.front().begin, end = span.back().begin + span.back().count;
      const at::Tensor sum = at::zeros({1, end - begin, heads, d}, fp32);
      const auto sum_of = [&](const Block& queries) {
        return sum.narrow(1, queries.begin - begin, queries.count);
      };
      const auto lse_of = [&](const Block& queries) {
        return logsumexp.narrow(0, b, 1).narrow(2, queries.begin, queries.count).contiguous();
      };
      std::vector<QueryBlock> of_span;
      for (const Block& queries : span) of_span.emplace_back(seen, b, i++, queries);

      const std::vector<Block> key_blocks = call.key_blocks(true);
      for (size_t j = 0; j < key_blocks.size(); ++j) {
        const Block& some = key_blocks[j];
        const typename Library::Scratch of_keys;
        const at::Tensor rows = seen.rows(some), some_keys = taken(keys, rows, some),
                         some_values = taken(values, rows, some);
        const at::Tensor key_sum = at::zeros(some_keys.sizes(), fp32),
                         value_sum = at::zeros(some_keys.sizes(), fp32);
        for (const QueryBlock& block : of_span) {
          const int64_t count = block.seen_of(some);
          if (count == 0) continue;
          const typename Library::Scratch of_piece;
          const auto [dq_part, dk_part, dv_part] = Library::range_backward(
              block.of(call.sequence(dout, b)), block.of(call.sequence(q, b)),
              some_keys.narrow(1, 0, count), some_values.narrow(1, 0, count),
              block.of(call.sequence(out, b)), lse_of(block.queries()),
              block.seen(static_cast<int64_t>(j), true), scale);
          sum_of(block.queries()).add_(dq_part);
          key_sum.narrow(1, 0, count).add_(dk_part);
          value_sum.narrow(1, 0, count).add_(dv_part);
        }
        if (begin == 0) {
          put(dkeys, rows, some, key_sum);
          put(dvalues, rows, some, value_sum);
        } else {
          add_to(dkeys, rows, some, key_sum);
          add_to(dvalues, rows, some, value_sum);
        }
      }
      for (const QueryBlock& block : of_span) {
        const typename Library::Scratch of_piece;
        auto [dq_part, dk_part, dv_part] = Library::documents_backward(
            block.of(call.sequence(dout, b)), block.of(call.sequence(q, b)),
            taken(keys, block.rows(), block.queries()),
            taken(values, block.rows(), block.queries()), block.of(call.sequence(out, b)),
            lse_of(block.queries()), block.own(), scale);
        for (const at::Tensor& grad : {dq_part, dk_part, dv_part}) block.clear_if_absent(grad);
        sum_of(block.queries()).add_(dq_part);
        add_to(dkeys, block.rows(), block.queries(), dk_part);
        add_to(dvalues, block.rows(), block.queries(), dv_part);
      }
      call.sequence(dq, b).narrow(1, begin, end - begin).copy_(sum);
    }
  }
  return {dq, dk, dv};
}

}  // namespace heddle::kernels
