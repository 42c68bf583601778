// A recipe's text by its statements, also while it is being typed and is no TOML yet.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::recipe {

/// A part of a text, in bytes.
struct Span {
  size_t at = 0, length = 0;
  size_t end() const { return at + length; }
  /// Also right after its last byte, where one types on.
  bool touches(size_t place) const { return at <= place && place <= end(); }
  std::string_view of(std::string_view text) const { return text.substr(at, length); }
};

/// A header, as in [model], or a key with its value, also one within braces.
struct Statement {
  std::string table;    // the header's, or the one around the key: "model", "" at the top
  std::string key;      // dotted, as in "training.steps"; empty: a header
  bool listed = false;  // of a header: [[override]]
  size_t block = 0;     // the byte after its header's or braces' bracket: keys are unique within it
  Span name;            // the header with its brackets; the key as it is written
  bool assigned = false;  // "=" follows
  Span value;             // all that follows "=", without a comment
};

/// All statements in the order of their names. A bracket that is never closed ends where the next
/// statement seems to begin.
std::vector<Statement> statements(std::string_view text);

/// A string with its quotes, or a word, of a value that is being typed.
struct Piece {
  bool possible = true;  // false: something else comes here: a comma, a comment, the next line
  Span span;
  std::string typed;  // from its begin to the place, without the quote
  char within = 0;    // the innermost open bracket
  size_t block = 0;   // the byte after it
};

/// The piece of a value at a place within it.
Piece piece_at(std::string_view text, const Span& value, size_t place);

}  // namespace heddle::recipe
