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

#include "engine/kernels/attention_blocks.h"
#include "engine/kernels/sight.h"

namespace heddle::kernels {

/// What the queries of a block see of the keys of the same tokens.
struct OwnKeys {
  Optional first, last;  // int64 [1, n], counted from the block's first token; none: causal
  Optional present;      // int64 []: 1, or 0 where they are not among the keys: anything may result
};

/// Which queries of a block see which keys before them: int32 [4], where the segments of queries
/// end and where those of keys do. Those of the second see the keys of the second and no others;
/// the first and the last have no queries, the third has no keys. None: all see all.
struct SeenRange {
  Optional queries, keys;  // int32 [5], from 0 on
};

/// A call of attention in pieces; see `Keys` in operators.h. Either keys are in order and as many
/// as queries, or they come in pieces, of whose length queries come too. Queries see, from some key
/// on, all up to their own token's: else the result is NaN.
struct PiecedCall {
  at::Tensor q, k, v;  // contiguous
  Optional first, last, starts;
  double scale;

  int64_t pieces() const { return starts ? starts->numel() : 0; }
  /// Tokens that lie next to each other.
  int64_t chunk() const { return starts ? k.size(1) / pieces() : k.size(1); }
  at::Tensor sequence(const at::Tensor& x, int64_t b) const { return x.narrow(0, b, 1); }
};

/// Keys by their position: `rows` says where they lie.
class KeyOrder {
 public:
  explicit KeyOrder(const PiecedCall& call) : keys_(call.k.size(1)), chunk_(call.chunk()) {
    if (!call.starts) return;
    starts_ = call.starts->reshape({-1});
    const at::Tensor index = at::arange(call.pieces(), starts_.options());
    const at::Tensor before = starts_.unsqueeze(1).gt(starts_).sum(1);
    const at::Tensor piece = at::zeros_like(starts_).scatter_(0, before, index);
    rows_ = piece.mul(chunk_).unsqueeze(1).add(at::arange(chunk_, starts_.options())).flatten();
  }

  /// How many keys are before a position.
  at::Tensor before(const at::Tensor& position) const {
    if (!starts_.defined()) return position.clamp(0, keys_);
    return (position - starts_).clamp(0, chunk_).sum();
  }
  /// Where those of a block lie; undefined: there.
  at::Tensor rows(const Block& block) const {
    return rows_.defined() ? rows_.narrow(0, block.begin, block.count) : at::Tensor();
  }
  /// The same of `count` keys from the `from`-th on.
  at::Tensor rows(const at::Tensor& from, int64_t count) const {
    const at::Tensor index = at::arange(count, starts_.options());
    return rows_.index_select(0, from.clamp(0, keys_ - count).add(index));
  }
  bool is_in_order() const { return !rows_.defined(); }

 private:
  int64_t keys_, chunk_;
  at::Tensor starts_, rows_;
};

/// A block of queries of a sequence, and what it sees.
class QueryBlock {
 public:
  QueryBlock(const PiecedCall& call, const KeyOrder& order, int64_t b, const Block& block)
      : block_(block), in_order_(order.is_in_order()) {
    if (!call.first) return;
    const auto of_block = [&](const Optional& keys) {
      return keys->reshape({call.q.size(0), call.q.size(1)})
          .select(0, b)
          .narrow(0, block.begin, block.count);
    };
    const at::Tensor first = of_block(call.first), last = of_block(call.last);
    const at::Tensor position = last.select(0, 0), document = first.select(0, 0);
    own_.first = first.sub(position).clamp_min_(0).unsqueeze(0);
    own_.last = last.sub(position).unsqueeze(0);
    const at::Tensor seeing = first.eq(document).sum();
    const at::Tensor none = at::zeros_like(seeing), all = at::full_like(seeing, block.count);
    ends_of_queries_ = at::stack({none, none, seeing, all, all}).to(at::kInt);
    from_ = order.before(document);
    until_ = order.before(position);
    if (in_order_) {
      astray_ = position.ne(block.begin);
      return;
    }
    const at::Tensor own = order.before(position + block.count) - until_;
    own_.present = own.eq(block.count).to(at::kLong);
    astray_ = own.ne(block.count).logical_and_(own.ne(0));
    rows_ = order.rows(until_, block.count);
  }

  const Block& queries() const { return block_; }
  const OwnKeys& own() const { return own_; }
  /// Where its own keys lie; undefined: where the queries do.
  const at::Tensor& rows() const { return rows_; }
  at::Tensor of(const at::Tensor& x) const { return x.narrow(1, block_.begin, block_.count); }

  /// How many of a block of keys may be seen, as far as is known without the data.
  int64_t seen_of(const Block& keys) const {
    return in_order_ ? std::clamp<int64_t>(block_.begin - keys.begin, 0, keys.count) : keys.count;
  }
  /// Of the first `count` keys of a block.
  SeenRange seen(const Block& keys, int64_t count) const {
    if (!from_.defined()) return {};
    const at::Tensor until = until_.sub(keys.begin).clamp_(0, count),
                     from = from_.sub(keys.begin).clamp_(0, count).minimum(until);
    const at::Tensor none = at::zeros_like(from), all = at::full_like(from, count);
    return {ends_of_queries_, at::stack({none, from, until, until, all}).to(at::kInt)};
  }

  /// `x` where the block's own keys are present, else `instead`.
  void clear_if_absent(at::Tensor x, double instead = 0) const {
    if (own_.present) x.masked_fill_(own_.present->eq(0), instead);
  }
  void spoil_if_astray(at::Tensor x) const {
    if (astray_.defined()) x.masked_fill_(astray_, std::numeric_limits<double>::quiet_NaN());
  }

 private:
  Block block_;
  bool in_order_;
  OwnKeys own_;
  at::Tensor rows_, ends_of_queries_, from_, until_, astray_;
};

/// Rows of x [1, N, …]; undefined rows: those of the block.
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
std::tuple<at::Tensor, at::Tensor> attention_in_pieces(const PiecedCall& call,
                                                       int64_t most_queries = kPieceQueries,
                                                       int64_t most_keys = kPieceKeys) {
  const auto& [q, k, v, first, last, starts, scale] = call;
  const int64_t batch = q.size(0), s = q.size(1), heads = q.size(2), d = q.size(3);
  at::Tensor out = at::empty_like(q),
             logsumexp = at::empty({batch, heads, s}, q.options().dtype(at::kFloat));
  const KeyOrder order(call);
  for (int64_t b = 0; b < batch; ++b) {
    const at::Tensor keys = call.sequence(k, b), values = call.sequence(v, b);
    for (const Block& queries : blocks_of(s, call.chunk(), most_queries)) {
      const typename Library::Scratch of_block;
      const QueryBlock block(call, order, b, queries);
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
      for (const Block& some : blocks_of(k.size(1), k.size(1), most_keys)) {
        const int64_t count = block.seen_of(some);
        if (count == 0) continue;
        const typename Library::Scratch of_piece;
        const at::Tensor at_rows = order.rows(some);
        const auto [part, part_lse] = Library::range(
            rows, taken(keys, at_rows, some).narrow(1, 0, count),
            taken(values, at_rows, some).narrow(1, 0, count), block.seen(some, count), scale);
        merge_into(sum, lse, part, part_lse);
      }
      block.of(call.sequence(out, b)).copy_(sum);
      logsumexp.narrow(0, b, 1).narrow(2, queries.begin, queries.count).copy_(lse);
    }
  }
  return {out, logsumexp};
}

/// dout, out and logsumexp are of all keys, these and others, as those of
/// `attention_part_backward`.
template <typename Library>
std::tuple<at::Tensor, at::Tensor, at::Tensor> attention_in_pieces_backward(
    const PiecedCall& call, const at::Tensor& dout, const at::Tensor& out,
    const at::Tensor& logsumexp, int64_t most_queries = kPieceQueries,
    int64_t most_keys = kPieceKeysBackward, int64_t most_summed = kWholeQueries) {
  const auto& [q, k, v, first, last, starts, scale] = call;
  const int64_t batch = q.size(0), s = q.size(1), heads = q.size(2), d = q.size(3);
  at::Tensor dq = at::empty_like(q), dk = at::empty_like(k), dv = at::empty_like(v);
  const KeyOrder order(call);
  const auto fp32 = q.options().dtype(at::kFloat);
  for (int64_t b = 0; b < batch; ++b) {
    const at::Tensor keys = call.sequence(k, b), values = call.sequence(v, b),
                     dkeys = call.sequence(dk, b), dvalues = call.sequence(dv, b);
    for (const auto& span : spans_of(blocks_of(s, call.chunk(), most_queries), most_summed)) {
      const typename Library::Scratch of_span;
      const int64_t begin = span.front().begin, end = span.back().begin + span.back().count;
      const at::Tensor sum = at::zeros({1, end - begin, heads, d}, fp32);
      const auto sum_of = [&](const Block& queries) {
        return sum.narrow(1, queries.begin - begin, queries.count);
      };
      const auto lse_of = [&](const Block& queries) {
        return logsumexp.narrow(0, b, 1).narrow(2, queries.begin, queries.count).contiguous();
      };
      std::vector<QueryBlock> blocks;
      for (const Block& queries : span) blocks.emplace_back(call, order, b, queries);

      for (const Block& some : blocks_of(k.size(1), k.size(1), most_keys)) {
        const typename Library::Scratch of_keys;
        const at::Tensor rows = order.rows(some), some_keys = taken(keys, rows, some),
                         some_values = taken(values, rows, some);
        const at::Tensor key_sum = at::zeros(some_keys.sizes(), fp32),
                         value_sum = at::zeros(some_keys.sizes(), fp32);
        for (const QueryBlock& block : blocks) {
          const int64_t count = block.seen_of(some);
          if (count == 0) continue;
          const typename Library::Scratch of_piece;
          const auto [dq_part, dk_part, dv_part] = Library::range_backward(
              block.of(call.sequence(dout, b)), block.of(call.sequence(q, b)),
              some_keys.narrow(1, 0, count), some_values.narrow(1, 0, count),
              block.of(call.sequence(out, b)), lse_of(block.queries()), block.seen(some, count),
              scale);
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
      for (const QueryBlock& block : blocks) {
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
