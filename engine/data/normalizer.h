// Changes a text before it is cut into pieces: Unicode's normal forms, small letters,
// replacements.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "engine/data/regex.h"

namespace heddle::data {

/// The normal forms of Unicode Standard Annex 15.
enum class Form : uint8_t { nfc, nfd, nfkc, nfkd };

/// A sequence of steps. Threads: as Regex.
class Normalizer {
 public:
  void add_form(Form form) { steps_.emplace_back(form); }
  /// Normalizes a text that is not empty.
  void add_prefix(std::string prefix) { steps_.emplace_back(Prefix{std::move(prefix)}); }
  void add_lowercase() { steps_.emplace_back(Lowercase{}); }
  /// Takes away the marks that do not space.
  void add_strip_accents() { steps_.emplace_back(StripAccents{}); }
  /// Bytes become the characters of the byte-level alphabet.
  void add_spelling() { steps_.emplace_back(Spelling{}); }
  void add_replacement(Regex pattern, std::string by) {
    steps_.emplace_back(Replacement{std::move(pattern), std::move(by)});
  }
  /// White space at the ends.
  void add_strip(bool left, bool right) { steps_.emplace_back(Strip{left, right}); }

  bool is_empty() const { return steps_.empty(); }
  size_t steps() const { return steps_.size(); }
  bool spells_bytes() const;

  /// `text` is well-formed UTF-8; one that goes on where another broke off gets no prefix. Fails
  /// where an expression does, and where the text grows to many times its size.
  Result<std::string> normalize(std::string text, bool goes_on = false);

 private:
  struct Prefix {
    std::string text;
  };
  struct Replacement {
    Regex pattern;
    std::string by;
  };
  struct Strip {
    bool left, right;
  };
  struct Lowercase {};
  struct StripAccents {};
  struct Spelling {};
  std::vector<std::variant<Form, Prefix, Replacement, Strip, Lowercase, StripAccents, Spelling>>
      steps_;
};

}  // namespace heddle::data
