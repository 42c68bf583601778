#include "engine/data/added_tokens.h"

#include "base/utf8.h"

namespace heddle::data {
namespace {

bool is(Regex& kind, std::string_view character) {
  const auto match = kind.find(character, 0);
  return match && *match;
}

/// The character that ends at `end` (0: none).
std::string_view character_before(std::string_view text, size_t end) {
  size_t begin = end;
  while (begin > 0 && (static_cast<unsigned char>(text[--begin]) & 0xC0) == 0x80) {
  }
  return text.substr(begin, end - begin);
}

std::string_view character_after(std::string_view text, size_t begin) {
  if (begin == text.size()) return {};
  return text.substr(begin, character_length(text.substr(begin)));
}

}  // namespace

Result<AddedTokens> AddedTokens::make(std::vector<AddedToken> tokens) {
  // Rust's meaning of \w and \s.
  auto word = Regex::compile(R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}])");
  if (!word) return fail(word);
  auto space = Regex::compile(R"(\p{White_Space})");
  if (!space) return fail(space);
  return AddedTokens(std::move(tokens), std::move(*word), std::move(*space));
}

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, Regex word_character, Regex white_space)
    : tokens_(std::move(tokens)),
      trie_(1),
      word_character_(std::move(word_character)),
      white_space_(std::move(white_space)) {
  for (size_t token = 0; token < tokens_.size(); ++token) {
    const std::string& content = tokens_[token].content;
    begins_one_[static_cast<unsigned char>(content.front())] = true;
    uint32_t node = 0;
    for (const char byte : content) {
      const auto [next, is_new] =
          trie_[node].next.try_emplace(byte, static_cast<uint32_t>(trie_.size()));
      node = next->second;
      if (is_new) trie_.emplace_back();
    }
    trie_[node].token = static_cast<int32_t>(token);
  }
}

const AddedToken* AddedTokens::longest_at(std::string_view text, size_t at) const {
  const AddedToken* longest = nullptr;
  uint32_t node = 0;
  for (; at < text.size(); ++at) {
    const auto next = trie_[node].next.find(text[at]);
    if (next == trie_[node].next.end()) break;
    node = next->second;
    if (trie_[node].token >= 0) longest = &tokens_[trie_[node].token];
  }
  return longest;
}

bool AddedTokens::stands_alone(std::string_view text, Match place) {
  return !is(word_character_, character_before(text, place.begin)) &&
         !is(word_character_, character_after(text, place.end));
}

Match AddedTokens::with_white_space(std::string_view text, size_t from, Match place,
                                    const AddedToken& token) {
  if (token.lstrip) {
    while (place.begin > from) {
      const std::string_view before = character_before(text, place.begin);
      if (!is(white_space_, before)) break;
      place.begin -= before.size();
    }
  }
  if (token.rstrip) {
    while (place.end < text.size()) {
      const std::string_view after = character_after(text, place.end);
      if (!is(white_space_, after)) break;
      place.end += after.size();
    }
  }
  return place;
}

std::optional<AddedTokens::Found> AddedTokens::find(std::string_view text, size_t from) {
  for (size_t at = from; at < text.size(); ++at) {
    if (!begins_one_[static_cast<unsigned char>(text[at])]) continue;
    const AddedToken* token = longest_at(text, at);
    if (!token) continue;
    const Match place{at, at + token->content.size()};
    if (token->single_word && !stands_alone(text, place)) {
      at = place.end - 1;
      continue;
    }
    return Found{with_white_space(text, from, place, *token), token->id};
  }
  return std::nullopt;
}

}  // namespace heddle::data
