// Byte-pair encoding of one piece of text: the vocabulary and its merges.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/data/merges.h"
#include "engine/data/symbols.h"

namespace heddle::data {

/// Which pieces are taken whole, as the token that they are.
enum class WholeWords : uint8_t {
  none,
  first,  // those that are tokens (Hugging Face's ignore_merges)
  only,   // all; one that is no token is unknown (WordLevel)
};

/// Merges in order of rank, leftmost first, in O(n log n) of the piece's bytes. A long piece is
/// merged in parts where no merge joins them, so that memory stays bounded. Threads: one at a
/// time, since the working memory is kept.
class Bpe {
 public:
  /// `words`: the bytes of each token that merging can give, to its id.
  Bpe(Words words, SymbolRules rules, std::vector<Merge> merges, WholeWords whole_words);

  /// Appends the ids of a piece. Fails where more than two million symbols are to be merged at
  /// once, and where `Symbols` does.
  Result<> encode(std::string_view piece, std::vector<int32_t>& ids);

  const Symbols& symbols() const { return *begins_with_; }

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
  bool may_cut_before(int32_t id);
  void merge(std::vector<int32_t>& ids);
  void consider(uint32_t left);

  std::unique_ptr<Words> words_;  // where it is: begins_with_ refers to it
  std::unique_ptr<Symbols> begins_with_;
  std::vector<Merge> merges_;  // by rank
  PairTable ranks_;
  std::unique_ptr<Joins> joins_;  // made for the first long piece
  WholeWords whole_words_ = WholeWords::none;

  std::vector<Symbol> symbols_;
  std::vector<Candidate> heap_;
};

}  // namespace heddle::data
