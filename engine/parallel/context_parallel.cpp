#include "engine/parallel/context_parallel.h"

#include "engine/parallel/ring_attention.h"

namespace heddle::parallel {
namespace {

using at::Tensor;
using recipe::ContextMode;

kernels::Keys keys_of(const Context& context) {
  const auto if_any = [](const Tensor& tensor) {
    return tensor.defined() ? std::optional(tensor) : std::nullopt;
  };
  return {if_any(context.first_key), if_any(context.last_key), if_any(context.key_starts),
          if_any(context.sight)};
}

// Rank-major [ranks · B, S, …] → [B, ranks · S, …].
Tensor sequences(const Tensor& gathered, int64_t ranks) {
  const int64_t b = gathered.size(0) / ranks;
  return gathered.unflatten(0, {ranks, b}).transpose(0, 1).flatten(1, 2);
}

Tensor with_all_keys(const Tensor& q, const Tensor& k, const Tensor& v, const Context& context,
                     double scale, const Group& group) {
  const auto [keys, values] = gather_rows(k, v, group);
  return kernels::attention(q, sequences(keys, group.ranks), sequences(values, group.ranks), scale,
                            keys_of(context));
}

// This rank's tokens of all heads [B, S, H, D] → all tokens of this rank's heads, [B, ranks · S,
// H / ranks, D].
Tensor heads_apart(const Tensor& x, const Group& group) {
  const Tensor by_rank = x.unflatten(2, {group.ranks, x.size(2) / group.ranks}).movedim(2, 0);
  return sequences(exchange_parts(by_rank.contiguous(), group).flatten(0, 1), group.ranks);
}

Tensor heads_together(const Tensor& x, const Group& group) {
  const Tensor by_rank = x.unflatten(1, {group.ranks, x.size(1) / group.ranks}).movedim(1, 0);
  // With one head a rank, flattening would leave a view in another order.
  return exchange_parts(by_rank.contiguous(), group).movedim(0, 2).flatten(2, 3).contiguous();
}

// Where there are fewer kv heads than ranks, several ranks have the same one.
Tensor enough_heads(const Tensor& x, int64_t ranks) {
  const int64_t heads = x.size(2);
  if (heads % ranks == 0) return x;
  return x.unsqueeze(3).expand({-1, -1, -1, ranks / heads, -1}).flatten(2, 3);
}

Tensor by_heads(const Tensor& q, const Tensor& k, const Tensor& v, const Context& context,
                double scale, const Group& group) {
  const Tensor result =
      kernels::attention(heads_apart(q, group), heads_apart(enough_heads(k, group.ranks), group),
                         heads_apart(enough_heads(v, group.ranks), group), scale, keys_of(context));
  return heads_together(result, group);
}

}  // namespace

Tensor ContextParallel::attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                  const Context& context, double scale) const {
  if (group.ranks == 1) return kernels::attention(q, k, v, scale, keys_of(context));
  switch (mode) {
    case ContextMode::allgather:
      return with_all_keys(q, k, v, context, scale, group);
    case ContextMode::ring:
      return ring_attention(q, k, v, context, scale, group);
    case ContextMode::ulysses:
      return by_heads(q, k, v, context, scale, group);
  }
  return {};
}

std::vector<int64_t> tokens_of(int64_t rank, int64_t ranks, ContextMode mode, int64_t seq_len) {
  std::vector<int64_t> tokens;
  const auto add = [&](int64_t begin, int64_t count) {
    for (int64_t i = begin; i < begin + count; ++i) tokens.push_back(i);
  };
  if (ranks == 1 || mode == ContextMode::ulysses) {
    add(rank * (seq_len / ranks), seq_len / ranks);
  } else {
    const int64_t chunk = seq_len / (2 * ranks);
    add(rank * chunk, chunk);
    add((2 * ranks - 1 - rank) * chunk, chunk);
  }
  return tokens;
}

std::vector<int64_t> key_starts_of(int64_t rank, int64_t ranks, ContextMode mode, int64_t seq_len) {
  std::vector<int64_t> starts;
  if (ranks == 1 || mode == ContextMode::ulysses) return starts;
  for (int64_t i = 0; i < ranks; ++i) {
    // In the ring, step i brings the keys of the i-th rank before this one.
    const int64_t of = mode == ContextMode::ring ? (rank - i + ranks) % ranks : i;
    const int64_t chunk = seq_len / (2 * ranks);
    starts.insert(starts.end(), {of * chunk, (2 * ranks - 1 - of) * chunk});
  }
  return starts;
}

}  // namespace heddle::parallel
