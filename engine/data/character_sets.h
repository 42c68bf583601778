// Sets of characters that Oniguruma names, as PCRE2 spells them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heddle::data {

/// Items of a class, or all characters that they leave out. Empty `items`: `other` is an expression
/// that takes one character.
struct CharacterSet {
  std::string items;
  bool negated = false;
  std::string other = {};
  bool is_character = false;  // one: it may begin or end a range

  std::string expression() const;
};

/// The set of \s, \w, \d or \h, or of their capitals; none: the letter is no set's.
std::optional<CharacterSet> set_of_escape(char letter, bool in_class);
/// The set of [:name:]; none: there is no such name.
std::optional<CharacterSet> set_of_bracket(std::string_view name, bool negated);
/// The set of \p{name}: a property, a script's own characters, or as PCRE2 knows the name.
CharacterSet set_of_property(std::string_view name, bool negated);

}  // namespace heddle::data
