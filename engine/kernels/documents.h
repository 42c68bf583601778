// Documents packed into sequences, as flash attention takes them: where each begins. What attention
// is given instead is a first and a last key for each token.
#pragma once

#include <cstdint>

#include "engine/kernels/list_blocks.h"

namespace heddle::kernels::cuda {

/// Documents of a sequence that a call of flash attention takes one by one: each costs it 128 rows
/// of scratch. Where there are more, short ones share a segment (find_documents).
inline constexpr int64_t kDocuments = 64;
/// The same of a piece of a sequence (attention_blocks.h).
inline constexpr int64_t kPieceDocuments = 24;

/// The most tokens of a document that shares a segment, so that of `tokens` no more than `capacity`
/// segments are made, which is at least 3 for each sequence: a longer one may follow and precede a
/// segment that others share, and one of these ends each sequence.
HEDDLE_ON_DEVICE inline int64_t longest_shared(int64_t tokens, int64_t sequences,
                                               int64_t capacity) {
  return blocks_for(tokens, (capacity - sequences) / 2) - 1;
}

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
  /// Whether the document of a token of a sequence of s tokens is longer than so many.
  HEDDLE_ON_DEVICE bool is_longer(int64_t token, int64_t s, int64_t than) const {
    const int64_t behind = first[token] + than;
    return behind < s && first[behind] == first[token];
  }
  /// Whether the token begins a segment, where documents of up to `shared` tokens share theirs with
  /// those next to them.
  HEDDLE_ON_DEVICE bool begins_segment(int64_t token, int64_t s, int64_t shared) const {
    return begins(token) &&
           (token == 0 || is_longer(token, s, shared) || token - first[token - 1] > shared);
  }
};

}  // namespace heddle::kernels::cuda
