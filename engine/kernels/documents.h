// Documents packed into sequences, as flash attention takes them: where each begins. Heddle's
// attention takes a first and a last key for each token instead.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/kernels/list_blocks.h"

namespace heddle::kernels::cuda {

/// Documents of a sequence that a call of flash attention takes one by one: each costs it 128 rows
/// of scratch. Where there are more, short ones share a segment (find_documents).
inline constexpr int64_t kDocuments = 64;
/// The same of a piece of a sequence (attention_blocks.h).
inline constexpr int64_t kPieceDocuments = 24;

/// The most tokens of a document that shares a segment, so that `tokens` make at most `capacity`
/// segments, which is at least 3 for each sequence: a longer one may follow and precede a segment
/// that others share, and one of these ends each sequence.
HEDDLE_ON_DEVICE inline int64_t longest_shared(int64_t tokens, int64_t sequences,
                                               int64_t capacity) {
  return blocks_for(tokens, (capacity - sequences) / 2) - 1;
}

/// The keys that each token of a sequence sees as a query: `first[token]` to `last[token]`.
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

/// Keys of all sequences of s tokens → starts [capacity + 1]: where each segment begins in all
/// tokens, then how many tokens there are. A segment is a document; where there are more documents
/// than that, short ones next to each other share one. found, of two: 1, or 0 where what tokens see
/// is not their documents; the most tokens of a document that shares a segment, or 0 where none
/// does. capacity: at least 3 · sequences.
inline void find_documents(const SeenKeys& all, int64_t sequences, int64_t s, int64_t capacity,
                           int32_t* starts, int32_t* found) {
  const auto for_tokens = [&](auto&& each) {
    for (int64_t sequence = 0; sequence < sequences; ++sequence)
      for (int64_t token = 0; token < s; ++token)
        each(SeenKeys{all.first + sequence * s, all.last + sequence * s}, sequence * s, token);
  };
  int64_t documents = 0;
  bool documents_only = true;
  for_tokens([&](const SeenKeys& keys, int64_t, int64_t token) {
    documents += keys.begins(token) ? 1 : 0;
    documents_only = documents_only && keys.sees_its_document(token);
  });
  const int64_t tokens = sequences * s;
  const int64_t shared =
      documents_only && documents > capacity ? longest_shared(tokens, sequences, capacity) : 0;
  int32_t* segment = starts;
  if (documents_only)
    for_tokens([&](const SeenKeys& keys, int64_t sequence, int64_t token) {
      if (keys.begins_segment(token, s, shared))
        *segment++ = static_cast<int32_t>(sequence + token);
    });
  std::fill(segment, starts + capacity + 1, static_cast<int32_t>(tokens));
  found[0] = documents_only ? 1 : 0;
  found[1] = static_cast<int32_t>(shared);
}

}  // namespace heddle::kernels::cuda
