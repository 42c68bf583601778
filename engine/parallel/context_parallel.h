// Context parallelism: each rank has some tokens of every sequence; attention looks across ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/kernels/operators.h"
#include "engine/parallel/exchange.h"
#include "engine/recipe/recipe.h"

namespace heddle::parallel {

/// Which tokens a rank has, and which keys they see; all int64. Undefined: one rank has all, and
/// attention is causal.
struct Context {
  at::Tensor first_key, last_key;  // [B, S]: see kernels::Keys; of the queries that attend here
  at::Tensor key_starts;  // [2 · ranks] in rank order; ring: [ranks, 2], row i the keys that
                          // come in step i
  at::Tensor sight;       // kernels::Keys' of these; ring: a row a step
};

struct ContextParallel {
  Group group;
  recipe::ContextMode mode = recipe::ContextMode::allgather;

  /// As kernels::attention on this rank's tokens: q [B, S, H, D]; k, v [B, S, K, D].
  at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                       const Context& context, double scale) const;
};

/// The tokens of a sequence that a rank has, in order. All-gather and ring: of 2 · ranks chunks the
/// rank-th from the front and from the back, which makes causal attention the same work for all
/// (arXiv 2407.21783, section 3.3.2). Ulysses: the rank-th of `ranks` parts.
std::vector<int64_t> tokens_of(int64_t rank, int64_t ranks, recipe::ContextMode mode,
                               int64_t seq_len);

/// Where the pieces of the keys begin, as `Context::key_starts` has them, flat. Empty where keys
/// are in order.
std::vector<int64_t> key_starts_of(int64_t rank, int64_t ranks, recipe::ContextMode mode,
                                   int64_t seq_len);

}  // namespace heddle::parallel
