// Documents packed into sequences, as flash attention takes them: where each begins. What attention
// is given instead is a first and a last key for each token.
#pragma once

#include <cstdint>

#include "engine/kernels/list_blocks.h"

namespace heddle::kernels::cuda {

/// Documents of a sequence that a call has room for: each costs flash attention 128 rows of
/// scratch.
inline constexpr int64_t kDocuments = 64;

/// Of the tokens of a sequence, each a query: keys from `first[token]` to `last[token]`.
struct SeenKeys {
  const int64_t *first, *last;

  /// Whether the token begins a document.
  HEDDLE_ON_DEVICE bool begins(int64_t token) const { return first[token] == token; }
  /// Whether what it sees is its document up to itself. If that is so of every token of a sequence,
  /// the sequence is documents and no more.
  HEDDLE_ON_DEVICE bool sees_its_document(int64_t token) const {
    return last[token] == token &&
           (begins(token) || (token > 0 && first[token] == first[token - 1]));
  }
};

}  // namespace heddle::kernels::cuda
