#include "engine/data/symbols.h"

#include <xxhash.h>

#include "engine/data/byte_level.h"

namespace heddle::data {

size_t BytesHash::operator()(std::string_view bytes) const {
  return XXH3_64bits(bytes.data(), bytes.size());
}

Symbols::Symbols(const Words& words, SymbolRules rules)
    : words_(words),
      rules_(std::move(rules)),
      affixes_(!rules_.prefix.empty() || !rules_.suffix.empty()) {
  for (size_t byte = 0; byte < byte_ids_.size(); ++byte)
    if (const auto word = words_.find(std::string(1, static_cast<char>(byte)));
        word != words_.end())
      byte_ids_[byte] = word->second;
  if (const auto word = words_.find(rules_.unknown); word != words_.end()) unknown_ = word->second;
}

int32_t Symbols::find(std::string_view symbol, bool first, bool last) const {
  if (!affixes_) {
    if (symbol.size() == 1) return byte_ids_[static_cast<unsigned char>(symbol.front())];
    const auto word = words_.find(symbol);
    return word == words_.end() ? -1 : word->second;
  }
  std::string spelled = first ? "" : rules_.prefix;
  spelled += symbol;
  if (last) spelled += rules_.suffix;
  const auto word = words_.find(spelled);
  return word == words_.end() ? -1 : word->second;
}

std::optional<std::vector<int32_t>> Symbols::fallback(std::string_view symbol, bool first,
                                                      bool last) const {
  std::string spelled = first ? "" : rules_.prefix;
  spelled += rules_.unit == Unit::bytes
                 ? spelling_of_byte(static_cast<unsigned char>(symbol.front()))
                 : std::string(symbol);
  if (last) spelled += rules_.suffix;
  std::vector<int32_t> ids;
  for (const char byte : spelled) {
    ids.push_back(rules_.fallback[static_cast<unsigned char>(byte)]);
    if (ids.back() < 0) return std::nullopt;
  }
  return ids;
}

Result<int32_t> Symbols::unknown() const {
  if (unknown_) return *unknown_;
  return fail("a part of the text is not in the vocabulary, nor is model.unk_token \"{}\"",
              rules_.unknown);
}

std::vector<int32_t> Symbols::all() const {
  std::vector<int32_t> ids;
  for (const int32_t id : rules_.fallback)
    if (id >= 0) ids.push_back(id);
  if (unknown_) ids.push_back(*unknown_);
  for (const auto& [word, id] : words_) {
    const bool one = rules_.unit == Unit::bytes
                         ? word.size() == 1
                         : !word.empty() && length_at(word, 0) == word.size();
    if (one || affixes_) ids.push_back(id);
  }
  return ids;
}

bool Symbols::has(std::string_view piece) const {
  for (size_t at = 0; at < piece.size();) {
    const std::string_view symbol = piece.substr(at, length_at(piece, at));
    const bool first = at == 0, last = at + symbol.size() == piece.size();
    at += symbol.size();
    if (find(symbol, first, last) < 0 && !fallback(symbol, first, last)) return false;
  }
  return true;
}

}  // namespace heddle::data
