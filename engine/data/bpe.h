// Byte-pair encoding of one piece of text: the vocabulary and its merges.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heddle::data {

/// Hashes strings and views of them alike, so that a lookup copies nothing.
struct BytesHash {
  using is_transparent = void;
  size_t operator()(std::string_view bytes) const;
};
using Words = std::unordered_map<std::string, int32_t, BytesHash, std::equal_to<>>;

/// Finds the rank of a pair of ids: a hash table with open addressing, since this is the inner
/// loop.
class PairTable {
 public:
  static constexpr uint32_t kNone = 0xFFFFFFFF;

  explicit PairTable(size_t pairs = 0);
  /// The last rank given to a pair holds.
  void insert(int32_t left, int32_t right, uint32_t rank);
  uint32_t find(int32_t left, int32_t right) const;

 private:
  struct Slot {
    uint64_t pair = 0;
    uint32_t rank = kNone;
  };
  size_t slot_of(uint64_t pair) const;

  std::vector<Slot> slots_;
};

/// What merging begins with.
enum class Symbols : uint8_t {
  bytes,
  characters,  // those that are tokens; of others the bytes (SentencePiece's byte fallback)
};

/// Merges in order of rank, leftmost first, in O(n log n) of the piece's bytes. Threads: one at a
/// time, since the working memory is kept.
class Bpe {
 public:
  struct Merge {
    int32_t left = 0;
    int32_t right = 0;
    int32_t merged = 0;
  };

  using ByteIds = std::array<int32_t, 256>;

  /// `words`: the bytes of each token that merging can give, to its id; `byte_ids`: the token of
  /// each single byte. `whole_words`: a piece that is a token is taken as it is (Hugging Face's
  /// ignore_merges).
  Bpe(Words words, const ByteIds& byte_ids, std::vector<Merge> merges, Symbols symbols,
      bool whole_words);

  /// Appends the ids of a piece.
  void encode(std::string_view piece, std::vector<int32_t>& ids);

 private:
  static constexpr uint32_t kEnd = 0xFFFFFFFF;
  struct Symbol {
    int32_t id;  // -1: merged into an earlier one
    uint32_t previous;
    uint32_t next;
  };
  struct Candidate {
    uint32_t rank;
    uint32_t at;  // the left symbol
    bool operator>(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : at > other.at;
    }
  };
  void merge(std::string_view piece, std::vector<int32_t>& ids);
  void begin_with(std::string_view piece);
  void consider(uint32_t left);

  Words words_;
  std::vector<Merge> merges_;  // by rank
  PairTable ranks_;
  ByteIds byte_ids_{};
  Symbols begins_with_ = Symbols::bytes;
  bool whole_words_ = false;

  std::vector<Symbol> symbols_;
  std::vector<Candidate> heap_;
};

}  // namespace heddle::data
