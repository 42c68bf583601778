// The bytes or characters of a piece as tokens: merging begins with them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/utf8.h"

namespace heddle::data {

/// Hashes strings and views of them alike, so that a lookup copies nothing.
struct BytesHash {
  using is_transparent = void;
  size_t operator()(std::string_view bytes) const;
};
using Words = std::unordered_map<std::string, int32_t, BytesHash, std::equal_to<>>;

enum class Unit : uint8_t { bytes, characters };

/// How a vocabulary has its symbols.
struct SymbolRules {
  using ByteIds = std::array<int32_t, 256>;
  static constexpr ByteIds kNoBytes = [] {
    ByteIds none{};
    none.fill(-1);
    return none;
  }();

  Unit unit = Unit::bytes;
  std::string prefix;           // of all symbols of a piece but the first
  std::string suffix;           // of its last
  ByteIds fallback = kNoBytes;  // "<0x0A>": what a byte of an unknown symbol becomes
  std::string unknown = {};     // the token of one that has no fallback either; "": it is lost
  bool fuses_unknown = false;   // several in a row become one
};

class Symbols {
 public:
  /// `words`: the bytes of each token to its id. It outlives this.
  Symbols(const Words& words, SymbolRules rules);

  /// Calls `add(id)` for the symbols of a piece, in order. Fails where the unknown token is needed
  /// and is none.
  template <typename Add>
  Result<> each(std::string_view piece, Add&& add) const;

  /// The unknown token, where there is one.
  Result<int32_t> unknown() const;
  /// All that `each` may give.
  std::vector<int32_t> all() const;
  /// Whether a piece loses nothing.
  bool has(std::string_view piece) const;

 private:
  size_t length_at(std::string_view piece, size_t at) const {
    if (rules_.unit == Unit::bytes) return 1;
    // A byte that is not UTF-8 comes as a piece of its own.
    return std::min(character_length(piece.substr(at)), piece.size() - at);
  }
  int32_t find(std::string_view symbol, bool first, bool last) const;
  std::optional<std::vector<int32_t>> fallback(std::string_view symbol, bool first,
                                               bool last) const;

  const Words& words_;
  SymbolRules rules_;
  bool affixes_ = false;
  SymbolRules::ByteIds byte_ids_ = SymbolRules::kNoBytes;  // of single bytes without affixes
  std::optional<int32_t> unknown_;
};

template <typename Add>
Result<> Symbols::each(std::string_view piece, Add&& add) const {
  std::optional<int32_t> pending;  // an unknown token that the next may join
  for (size_t at = 0; at < piece.size();) {
    const std::string_view symbol = piece.substr(at, length_at(piece, at));
    const bool first = at == 0, last = at + symbol.size() == piece.size();
    at += symbol.size();
    if (const int32_t id = find(symbol, first, last); id >= 0) {
      if (pending) add(*std::exchange(pending, std::nullopt));
      add(id);
      continue;
    }
    // As tokenizers has it, these come before an unknown token that is pending.
    if (const auto bytes = fallback(symbol, first, last)) {
      for (const int32_t id : *bytes) add(id);
      continue;
    }
    if (rules_.unknown.empty()) continue;
    const auto id = unknown();
    if (!id) return fail(id);
    if (pending && !rules_.fuses_unknown) add(*pending);
    pending = *id;
  }
  if (pending) add(*pending);
  return {};
}

}  // namespace heddle::data
