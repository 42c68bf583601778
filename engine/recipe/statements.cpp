#include "engine/recipe/statements.h"

#include <algorithm>
#include <utility>

namespace heddle::recipe {
namespace {

constexpr size_t kMaxBrackets = 64;  // within each other; more are letters

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_quote(char c) { return c == '"' || c == '\''; }
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == '+';
}

size_t end_of_line(std::string_view text, size_t at) {
  return std::min(text.find('\n', at), text.size());
}

/// Where a string that begins here ends; one on a single line at the latest with the line.
size_t string_end(std::string_view text, size_t at) {
  const char quote = text[at];
  const std::string three(3, quote);
  if (text.substr(at, 3) == three) {
    const size_t end = text.find(three, at + 3);
    return end == std::string_view::npos ? text.size() : end + 3;
  }
  for (size_t i = at + 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\\' && quote == '"') {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    }
  }
  return end_of_line(text, at);
}

/// Whether a line is a header or begins with a key and "=", and so is no part of a list.
bool begins_statement(std::string_view text, size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  if (at < text.size() && text[at] == '[') {
    while (at < text.size() && text[at] == '[') ++at;
    const std::string_view word = text.substr(at, 4);
    return at < text.size() && text[at] >= 'a' && text[at] <= 'z' && word != "true" &&
           !word.starts_with("fals") && !word.starts_with("inf") && !word.starts_with("nan");
  }
  const size_t begin = at;
  while (at < text.size() && is_letter(text[at])) ++at;
  const bool named = at > begin;
  while (at < text.size() && is_blank(text[at])) ++at;
  return named && at < text.size() && text[at] == '=';
}

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  std::vector<Statement> split() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (is_blank(c) || c == '\n') {
        ++at_;
      } else if (c == '#') {
        at_ = end_of_line(text_, at_);
      } else if (c == '[') {
        header();
      } else {
        assignment(table_, "\n#");
      }
    }
    return std::move(found_);
  }

 private:
  bool is_over(std::string_view ends) const {
    return at_ >= text_.size() || ends.find(text_[at_]) != std::string_view::npos;
  }

  void header() {
    Statement header;
    header.name.at = at_;
    while (!is_over("\n#")) {
      if (text_[at_++] != ']') continue;
      if (!is_over("\n#") && text_[at_] == ']') ++at_;
      break;
    }
    header.name.length = at_ - header.name.at;
    const std::string_view whole = header.name.of(text_);
    header.listed = whole.starts_with("[[");
    for (const char c : whole)
      if (is_letter(c)) header.table += c;
    header.block = block_ = header.name.at + 1;
    table_ = header.table;
    found_.push_back(std::move(header));
    while (!is_over("\n")) ++at_;
  }

  /// A key up to its value's end, which is before one of `ends`.
  void assignment(const std::string& table, std::string_view ends) {
    Statement one;
    one.table = table;
    one.block = block_;
    one.name.at = at_;
    while (!is_over(ends) && text_[at_] != '=')
      at_ = is_quote(text_[at_]) ? string_end(text_, at_) : at_ + 1;
    one.name.length = at_ - one.name.at;
    while (one.name.length > 0 && is_blank(text_[one.name.end() - 1])) --one.name.length;
    for (const char c : one.name.of(text_))
      if (!is_blank(c) && !is_quote(c)) one.key += c;
    if (!table.empty()) one.key = table + '.' + one.key;
    one.assigned = at_ < text_.size() && text_[at_] == '=';
    const size_t index = found_.size();
    const std::string key = one.key;
    found_.push_back(std::move(one));
    if (!found_[index].assigned) return;
    const size_t begin = ++at_;
    while (!is_over(ends)) value(key);
    found_[index].value = {begin, at_ - begin};
  }

  /// A string, a bracket with all that is in it, or one letter.
  void value(const std::string& key) {
    const char c = text_[at_];
    if (is_quote(c)) {
      at_ = string_end(text_, at_);
    } else if ((c != '[' && c != '{') || depth_ == kMaxBrackets) {
      ++at_;
    } else {
      ++depth_;
      c == '[' ? list(key) : braces(key);
      --depth_;
    }
  }

  void list(const std::string& key) {
    ++at_;
    while (at_ < text_.size() && text_[at_] != ']' && !is_left())
      text_[at_] == '#' ? void(at_ = end_of_line(text_, at_)) : value(key);
    if (!is_over("\n")) ++at_;
  }

  void braces(const std::string& key) {
    const size_t around = std::exchange(block_, ++at_);
    while (at_ < text_.size() && text_[at_] != '}' && !is_left()) {
      if (is_blank(text_[at_]) || text_[at_] == ',' || text_[at_] == '\n' || text_[at_] == ']') {
        ++at_;
      } else if (text_[at_] == '#') {
        at_ = end_of_line(text_, at_);
      } else {
        const size_t begin = at_;
        assignment(key, ",}\n#");
        if (at_ == begin) ++at_;
      }
    }
    block_ = around;
    if (!is_over("\n")) ++at_;
  }

  /// Whether the bracket was left open: the next line goes on with something else.
  bool is_left() const { return text_[at_] == '\n' && begins_statement(text_, at_ + 1); }

  std::string_view text_;
  size_t at_ = 0, block_ = 0, depth_ = 0;
  std::string table_;
  std::vector<Statement> found_;
};

}  // namespace

std::vector<Statement> statements(std::string_view text) { return Splitter(text).split(); }

Piece piece_at(std::string_view text, const Span& value, size_t place) {
  Piece piece;
  piece.span = {place, 0};
  std::vector<size_t> open;
  const auto finish = [&](bool possible) {
    piece.possible = possible;
    if (!open.empty()) piece.within = text[open.back()];
    if (!open.empty()) piece.block = open.back() + 1;
    return piece;
  };
  bool taken = false;  // a whole value is before the place
  for (size_t at = value.at; at < place;) {
    const char c = text[at];
    if (is_quote(c) || is_letter(c)) {
      size_t end = at;
      if (is_quote(c))
        end = string_end(text, at);
      else
        while (end < value.end() && is_letter(text[end])) ++end;
      if (end >= place) {
        piece.span = {at, end - at};
        piece.typed = text.substr(at, place - at);
        std::erase_if(piece.typed, is_quote);
        return finish(!taken);
      }
      taken = true;
      at = end;
      continue;
    }
    if (c == '#') {
      at = end_of_line(text, at);
      if (at >= place) taken = true;
      continue;
    }
    if (c == '[' || c == '{') {
      open.push_back(at);
      taken = false;
    } else if (c == ']' || c == '}') {
      if (!open.empty()) open.pop_back();
      taken = true;
    } else if (c == ',') {
      taken = false;
    }
    ++at;
  }
  return finish(!taken);
}

}  // namespace heddle::recipe
