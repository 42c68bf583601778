// Added tokens (<|begin_of_text|> …): found in a text before it is split and merged.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/data/regex.h"

namespace heddle::data {

/// An entry of tokenizer.json's added_tokens.
struct AddedToken {
  int32_t id = 0;
  std::string content;
  bool single_word = false;  // only between characters that are not of a word
  bool lstrip = false;       // takes the white space before it
  bool rstrip = false;       // takes the white space after it
};

/// Finds the leftmost, there the longest, token of a set. Threads: one at a time, as Regex.
class AddedTokens {
 public:
  /// Contents are not empty.
  static Result<AddedTokens> make(std::vector<AddedToken> tokens);

  /// Where a token is in the text (with the white space that it takes).
  struct Found {
    Match place;
    int32_t id = 0;
  };
  /// The first token in `text` at or after `from`; white space before `from` is not taken. The text
  /// is well-formed UTF-8.
  std::optional<Found> find(std::string_view text, size_t from);

 private:
  struct Node {  // of a trie over the contents' bytes
    std::map<char, uint32_t> next;
    int32_t token = -1;  // index into tokens_
  };

  AddedTokens(std::vector<AddedToken> tokens, Regex word_character, Regex white_space);
  const AddedToken* longest_at(std::string_view text, size_t at) const;
  bool stands_alone(std::string_view text, Match place);
  Match with_white_space(std::string_view text, size_t from, Match place, const AddedToken& token);

  std::vector<AddedToken> tokens_;
  std::vector<Node> trie_;
  std::array<bool, 256> begins_one_{};
  Regex word_character_;
  Regex white_space_;
};

}  // namespace heddle::data
