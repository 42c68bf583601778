#include "engine/data/oniguruma.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include "base/utf8.h"
#include "engine/data/character_sets.h"

namespace heddle::data {
namespace {

constexpr size_t kMaxGroupDepth = 64;  // classes within each other

class Translator {
 public:
  explicit Translator(std::string_view pattern) : pattern_(pattern) {}

  Result<std::string> translate() {
    while (at_ < pattern_.size())
      if (auto done = step(); !done) return fail("\"{}\" {}", pattern_, done.error().message);
    return std::move(out_);
  }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  char peek(size_t ahead = 0) const {
    return at_ + ahead < pattern_.size() ? pattern_[at_ + ahead] : '\0';
  }
  bool begins(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }

  /// The character here, whole.
  std::string_view take_character() {
    const std::string_view rest = pattern_.substr(at_);
    const auto taken = rest.substr(0, std::min(character_length(rest), rest.size()));
    at_ += taken.size();
    return taken;
  }

  void atom(std::string_view text) {
    atom_ = out_.size();
    out_ += text;
  }

  Result<> step() {
    switch (peek()) {
      case '\\': {
        auto set = escape(false);
        if (!set) return fail(set);
        atom(set->expression());
        return {};
      }
      case '[': {
        ++at_;
        auto set = char_class(0);
        if (!set) return fail(set);
        atom(set->expression());
        return {};
      }
      case '(':
        return open_group();
      case ')':
        ++at_;
        out_ += ')';
        atom_ = groups_.empty() ? kNone : groups_.back().begin;
        if (!groups_.empty()) close_group();
        return {};
      case '|':
        ++at_;
        out_ += '|';
        atom_ = kNone;
        return {};
      case '*':
      case '+':
      case '?':
        out_ += pattern_[at_++];
        if (peek() == '+' || peek() == '?') out_ += pattern_[at_++];
        return {};
      case '{':
        interval();
        return {};
      default:
        atom(take_character());
        return {};
    }
  }

  /// {n}, {n,}, {,m}, {n,m}; else a brace. What follows it is no mark of possession, but another
  /// quantifier.
  void interval() {
    size_t end = at_ + 1;
    while (end < pattern_.size() && std::isdigit(static_cast<unsigned char>(pattern_[end]))) ++end;
    const bool has_least = end > at_ + 1, has_comma = end < pattern_.size() && pattern_[end] == ',';
    const size_t most = end + 1;
    if (has_comma) {
      ++end;
      while (end < pattern_.size() && std::isdigit(static_cast<unsigned char>(pattern_[end])))
        ++end;
    }
    const bool has_most = has_comma && end > most;
    if (end >= pattern_.size() || pattern_[end] != '}' || !(has_least || has_most)) {
      ++at_;
      atom("\\{");
      return;
    }
    out_ += has_least ? "{" : "{0";
    out_ += pattern_.substr(at_ + 1, end - at_);
    at_ = end + 1;
    const bool lazy = peek() == '?' && has_comma;
    if (lazy) out_ += pattern_[at_++];
    if (!lazy && (peek() == '+' || peek() == '?' || peek() == '*') && atom_ != kNone) {
      out_.insert(atom_, "(?:");
      out_ += ')';
    }
  }

  Result<> open_group() {
    groups_.push_back({out_.size(), ignores_case_});
    atom_ = kNone;
    if (!begins("(?")) {
      ++at_;
      out_ += '(';
      return {};
    }
    if (begins("(?#")) {
      groups_.pop_back();
      const size_t end = pattern_.find(')', at_);
      at_ = end == std::string_view::npos ? pattern_.size() : end + 1;
      return {};
    }
    size_t end = at_ + 2;
    while (end < pattern_.size() && std::string_view("imx-").find(pattern_[end]) != kNone) ++end;
    const bool is_flags =
        end > at_ + 2 && end < pattern_.size() && (pattern_[end] == ')' || pattern_[end] == ':');
    if (!is_flags) {
      // A look-around, a name, …: all up to what belongs to it.
      const size_t head =
          begins("(?<=") || begins("(?<!") ? 4 : std::min<size_t>(3, pattern_.size() - at_);
      out_ += pattern_.substr(at_, head);
      at_ += head;
      return {};
    }
    if (pattern_[end] == ')' && !out_.empty() && out_.back() != '(' && out_.back() != ':')
      return fail("sets {} within an expression, which is not supported",
                  pattern_.substr(at_, end + 1 - at_));
    bool on = true;
    for (; at_ <= end; ++at_) {
      if (pattern_[at_] == '-') on = false;
      if (pattern_[at_] == 'i') ignores_case_ = on;
      out_ += pattern_[at_] == 'm' ? 's' : pattern_[at_];
    }
    if (out_.back() == ')') groups_.pop_back();  // for the rest of the group around it
    return {};
  }

  void close_group() {
    ignores_case_ = groups_.back().ignored_case;
    groups_.pop_back();
  }

  /// A backslash and what belongs to it.
  Result<CharacterSet> escape(bool in_class) {
    ++at_;
    if (at_ == pattern_.size()) return fail("ends with \\");
    const char kind = pattern_[at_];
    if (auto set = set_of_escape(kind, in_class)) {
      ++at_;
      return std::move(*set);
    }
    switch (kind) {
      case 'p':
      case 'P':
        return property();
      case 'u':
        return code_point();
      case 'v':
        ++at_;
        return CharacterSet{R"(\x0B)", false, {}, true};
      case 'x':
        return hexadecimal();
      case 'y':
      case 'Y':
      case 'C':
      case 'M':
        return fail("holds \\{}, which is not supported", kind);
      default:
        break;
    }
    if (std::string_view("aefnrt").find(kind) != kNone) {
      ++at_;
      return CharacterSet{fmt::format("\\{}", kind), false, {}, true};
    }
    if (kind == 'b') {  // between words; in a class, a backspace
      ++at_;
      return CharacterSet{"", false, "\\b", true};
    }
    if (std::isdigit(static_cast<unsigned char>(kind)) ||
        std::string_view("BAzZGKRXkgNc").find(kind) != kNone) {
      ++at_;
      return CharacterSet{"", false, fmt::format("\\{}", kind)};
    }
    if (kind == 'O') {
      ++at_;
      return CharacterSet{"", false, "(?s:.)"};
    }
    // Any other character matches itself.
    const std::string_view character = take_character();
    const bool is_letter =
        character.size() > 1 || std::isalnum(static_cast<unsigned char>(kind)) != 0;
    return CharacterSet{fmt::format("{}{}", is_letter ? "" : "\\", character), false, {}, true};
  }

  Result<CharacterSet> property() {
    const bool inverted = pattern_[at_++] == 'P';
    if (peek() != '{') return CharacterSet{inverted ? "P" : "p", false, {}, true};
    const size_t end = pattern_.find('}', at_);
    if (end == std::string_view::npos) return fail("has \\p{{ without }}");
    std::string_view name = pattern_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    const bool negated = name.starts_with('^') != inverted;
    if (name.starts_with('^')) name.remove_prefix(1);
    return set_of_property(name, negated);
  }

  Result<CharacterSet> code_point() {
    ++at_;
    const std::string_view digits = pattern_.substr(at_, 4);
    const bool whole = digits.size() == 4 && std::ranges::all_of(digits, [](unsigned char digit) {
                         return std::isxdigit(digit) != 0;
                       });
    if (!whole) return fail("has \\u without four hexadecimal digits");
    at_ += 4;
    return CharacterSet{fmt::format("\\x{{{}}}", digits), false, {}, true};
  }

  Result<CharacterSet> hexadecimal() {
    size_t end = at_ + 1;
    if (peek(1) == '{') {
      end = pattern_.find('}', at_);
      if (end == std::string_view::npos) return fail("has \\x{{ without }}");
      ++end;
    } else {
      while (end < pattern_.size() && end < at_ + 3 &&
             std::isxdigit(static_cast<unsigned char>(pattern_[end])))
        ++end;
    }
    const std::string_view text = pattern_.substr(at_, end - at_);
    at_ = end;
    return CharacterSet{fmt::format("\\{}", text), false, {}, true};
  }

  /// [:alpha:], [:^alpha:]; none: no such thing here.
  Result<std::optional<CharacterSet>> bracket() {
    const size_t end = pattern_.find(":]", at_);
    if (!begins("[:") || end == std::string_view::npos) return std::nullopt;
    std::string_view name = pattern_.substr(at_ + 2, end - at_ - 2);
    const bool negated = name.starts_with('^');
    if (negated) name.remove_prefix(1);
    const bool is_name =
        std::ranges::all_of(name, [](unsigned char letter) { return std::isalpha(letter) != 0; });
    if (!is_name) return std::nullopt;
    at_ = end + 2;
    if (auto set = set_of_bracket(name, negated)) return set;
    return fail("holds [:{}:], which is not supported", name);
  }

  /// One member of a class, a character where `is_character`.
  Result<CharacterSet> member_of_class(size_t depth) {
    if (peek() == '[') {
      auto posix = bracket();
      if (!posix) return fail(posix);
      if (*posix) return std::move(**posix);
      ++at_;
      return char_class(depth + 1);
    }
    if (peek() == '\\') {
      auto set = escape(true);
      if (set && set->items.empty() && set->other == "\\b")
        return CharacterSet{"\\x08", false, {}, true};
      if (set && set->items.empty()) return fail("has {} in a class", set->other);
      return set;
    }
    const std::string_view character = take_character();
    const bool plain =
        character.size() > 1 || std::isalnum(static_cast<unsigned char>(character[0]));
    return CharacterSet{fmt::format("{}{}", plain ? "" : "\\", character), false, {}, true};
  }

  /// All behind its bracket. Nested classes join, && intersects.
  Result<CharacterSet> char_class(size_t depth) {
    if (depth > kMaxGroupDepth) return fail("nests more than {} character classes", kMaxGroupDepth);
    const bool negated = peek() == '^';
    if (negated) ++at_;
    std::vector<std::string> intersected;
    std::string items;
    std::vector<std::string> others;
    const auto close = [&] {
      if (!items.empty()) others.insert(others.begin(), "[" + items + "]");
      std::string joined = others.empty() ? "(?!)" : others.front();
      if (others.size() > 1) {
        joined = "(?:";
        for (size_t i = 0; i < others.size(); ++i) joined += (i == 0 ? "" : "|") + others[i];
        joined += ")";
      }
      intersected.push_back(std::move(joined));
    };
    for (bool first = true;; first = false) {
      if (at_ >= pattern_.size()) return fail("has a class without ]");
      if (peek() == ']' && !first) break;
      if (begins("&&")) {
        at_ += 2;
        close();
        items.clear();
        others.clear();
        continue;
      }
      const bool nests = peek() == '[' && peek(1) != ':';
      auto set = member_of_class(depth);
      if (!set) return set;
      const bool is_range =
          set->is_character && peek() == '-' && peek(1) != ']' && peek(1) != '\0' && !begins("-&&");
      if (is_range) {
        ++at_;
        auto end = member_of_class(depth);
        if (!end) return end;
        if (!end->is_character) return fail("has a range that ends in a class");
        items += set->items + "-" + end->items;
      } else if (set->items.empty() || set->negated) {
        // Oniguruma adds the other case of what a class leaves out.
        if (ignores_case_ && nests)
          return fail("has a class in a class where case is ignored, which is not supported");
        others.push_back(set->expression());
      } else {
        items += set->items;
      }
    }
    ++at_;
    if (intersected.empty() && others.empty()) return CharacterSet{std::move(items), negated};
    close();
    std::string all = "(?:";
    for (size_t i = 0; i + 1 < intersected.size(); ++i) all += "(?=" + intersected[i] + ")";
    all += intersected.back() + ")";
    return CharacterSet{"", false, negated ? "(?:(?!" + all + ")(?s:.))" : std::move(all)};
  }

  std::string_view pattern_;
  size_t at_ = 0;
  std::string out_;
  struct Group {
    size_t begin;       // in out_
    bool ignored_case;  // before it
  };
  std::vector<Group> groups_;  // the open ones
  bool ignores_case_ = false;
  size_t atom_ = kNone;  // where the last thing that can be repeated begins in out_
};

}  // namespace

Result<std::string> to_pcre2(std::string_view pattern) { return Translator(pattern).translate(); }

}  // namespace heddle::data
