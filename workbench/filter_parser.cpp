#include "workbench/filter_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace heddle::workbench {
namespace {

using How = FilterTest::How;
using Join = FilterNode::Join;

constexpr size_t kMaxValueWords = 4;  // "6,667 tok/s a rank", "18 Nov 2026 14:10"
constexpr int kMaxDepth = 100;        // of brackets
constexpr std::string_view kSignLetters = "<>=!:~";

constexpr auto kSigns = std::to_array<std::pair<std::string_view, How>>({
    {":", How::contains},
    {"=", How::equal},
    {"==", How::equal},
    {"!=", How::differs},
    {"<", How::less},
    {"<=", How::less_equal},
    {">", How::greater},
    {">=", How::greater_equal},
    {"~", How::like},
    {"!~", How::unlike},
    {"is not", How::differs},
    {"is", How::equal},
    {"has", How::equal},
    {"contains", How::contains},
});

bool orders(How how) { return how >= How::less; }
bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_quote(char c) { return c == '"' || c == '\''; }

bool is_name(std::string_view text) {
  if (text.empty() || !(std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_'))
    return false;
  return std::ranges::all_of(
      text, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.' || c == '/'; });
}

/// A metric's name may have dashes: train/top-1.
bool is_key(std::string text) {
  if (text.starts_with('-')) return false;
  std::ranges::replace(text, '-', '_');
  return is_name(text);
}

class FilterParser {
 public:
  FilterParser(std::string_view text, double now) : text_(text), now_(now) {}

  tl::expected<FilterNode, FilterProblem> parse() {
    FilterNode root;
    skip_blanks();
    if (at_ < text_.size()) root = read_any();
    if (!problem_ && at_ < text_.size()) refuse(at_, 1, "“{}”: no ( opens it");
    if (problem_) return tl::unexpected(*problem_);
    if (root.join == Join::all || root.parts.empty()) return root;
    FilterNode whole;
    whole.parts.push_back(std::move(root));
    return whole;
  }

 private:
  struct Piece {
    size_t at = 0, length = 0;
  };

  std::string_view cut(const Piece& piece) const { return text_.substr(piece.at, piece.length); }
  bool ends() const { return at_ >= text_.size(); }
  void skip_blanks() {
    while (!ends() && is_blank(text_[at_])) ++at_;
  }
  bool is_sign_at(size_t at) const {
    if (at >= text_.size()) return false;
    const char c = text_[at];
    if (c == '!') return at + 1 < text_.size() && (text_[at + 1] == '=' || text_[at + 1] == '~');
    return c == '<' || c == '>' || c == '=' || c == '~';
  }
  /// The word at this place, up to a blank or bracket.
  Piece word_at(size_t at) const {
    size_t end = at;
    while (end < text_.size() && !is_blank(text_[end]) && text_[end] != '(' && text_[end] != ')')
      ++end;
    return {at, end - at};
  }
  bool is_word_at(size_t at, std::string_view word) const { return cut(word_at(at)) == word; }
  bool is_or_at(size_t at) const { return is_word_at(at, "or") || is_word_at(at, "||"); }
  bool is_and_at(size_t at) const { return is_word_at(at, "and") || is_word_at(at, "&&"); }
  bool is_not_at(size_t at) const {
    return is_word_at(at, "not") || (text_[at] == '!' && !is_sign_at(at));
  }

  /// `sentence` has the place as {}. The first problem is the one that counts.
  template <typename... Rest>
  void refuse(size_t at, size_t length, fmt::format_string<std::string_view, Rest...> sentence,
              Rest... rest) {
    if (problem_) return;
    problem_ = FilterProblem{at, length,
                             fmt::format(sentence, text_.substr(at, length), std::move(rest)...)};
  }

  /// Conditions joined by "or".
  FilterNode read_any() {
    FilterNode node{Join::any};
    if (++depth_ > kMaxDepth) refuse(at_ - 1, 1, "“{}”: brackets are nested too deeply");
    Piece joined;
    do {
      node.parts.push_back(read_all(joined));
      if (problem_ || ends() || !is_or_at(at_)) break;
      joined = word_at(at_);
      at_ += joined.length;
    } while (true);
    --depth_;
    return node.parts.size() == 1 ? std::move(node.parts.front()) : node;
  }

  /// Conditions side by side or joined by "and". `joined`: the word that this must follow.
  FilterNode read_all(Piece joined) {
    FilterNode node{Join::all};
    while (!problem_) {
      skip_blanks();
      const bool over = ends() || text_[at_] == ')';
      if (over && joined.length > 0)
        refuse(joined.at, joined.length, "“{}”: something must follow it");
      if (over && node.parts.empty() && !problem_)
        refuse(opened_, 1, "“{}”: a condition must follow it");
      if (over) break;
      const bool is_or = is_or_at(at_);
      if (is_or && !node.parts.empty() && joined.length == 0) break;
      if (is_or || is_and_at(at_)) {
        const Piece word = word_at(at_);
        if (joined.length > 0 || node.parts.empty()) {
          refuse(word.at, word.length,
                 "“{}”: something must stand before it; put it in quotes to look for it");
          break;
        }
        joined = word;
        at_ += word.length;
        bare_ = {};
        continue;
      }
      node.parts.push_back(read_unary());
      joined = {};
    }
    return node;
  }

  FilterNode read_unary() {
    FilterNode node;
    if (is_not_at(at_)) {
      const Piece word{at_, text_[at_] == '!' ? 1 : word_at(at_).length};
      at_ += word.length;
      bare_ = {};
      skip_blanks();
      if (ends() || text_[at_] == ')' || is_or_at(at_) || is_and_at(at_)) {
        refuse(word.at, word.length, "“{}”: a condition must follow it");
        return node;
      }
      node.join = Join::none;
      if (++depth_ > kMaxDepth) refuse(word.at, word.length, "“{}”: nested too deeply");
      if (!problem_) node.parts.push_back(read_unary());
      --depth_;
      return node;
    }
    if (text_[at_] == '(') {
      const size_t begin = opened_ = at_++;
      bare_ = {};
      node = read_any();
      if (problem_) return node;
      if (ends())
        refuse(begin, 1, "“{}” is not closed: a ) is missing at the end");
      else
        ++at_;
      bare_ = {};
      return node;
    }
    return read_term();
  }

  FilterNode test_node(FilterTest test) {
    FilterNode node{Join::test};
    node.test = std::move(test);
    return node;
  }

  FilterNode word_node(std::string text, size_t begin) {
    return test_node({How::word,
                      {},
                      {.text = std::move(text), .number = {}, .from = {}, .until = {}},
                      begin,
                      at_ - begin});
  }

  FilterNode read_term() {
    const size_t begin = at_;
    if (is_quote(text_[at_])) {
      const auto quoted = read_quoted();
      bare_ = {};
      size_t next = at_;
      while (next < text_.size() && is_blank(text_[next])) ++next;
      if (quoted && at_ > begin + 2 && is_sign_at(next))
        return read_comparison({begin + 1, at_ - begin - 2}, true);
      return word_node(quoted.value_or(""), begin);
    }
    if (const std::string flag = flag_at(begin); !flag.empty())
      return test_node({How::equal,
                        flag,
                        {.text = "yes", .number = {}, .from = {}, .until = {}},
                        begin,
                        at_ - begin});
    if (const size_t length = long_name(text_.substr(begin)); length > 0) {
      at_ = begin + length;
      if (compares(begin + length)) return read_comparison({begin, length});
      at_ = begin;
    }
    while (!ends() && !is_blank(text_[at_]) && text_[at_] != '(' && text_[at_] != ')' &&
           !is_sign_at(at_) && !(text_[at_] == ':' && is_name(text_.substr(begin, at_ - begin))))
      ++at_;
    if (!ends() && text_[at_] == '(' && at_ > begin) return read_call({begin, at_ - begin});
    const Piece name{begin, at_ - begin};
    if (compares(at_)) return read_comparison(name);
    return read_word(name);
  }

  /// "is starred": goes past it and returns its key. Empty: it is something else.
  std::string flag_at(size_t begin) {
    if (!is_word_at(begin, "is")) return {};
    size_t next = begin + 2;
    while (next < text_.size() && is_blank(text_[next])) ++next;
    const Piece word = word_at(next);
    const std::string key = key_called(cut(word));
    const FilterColumn* column = filter_column(key);
    if (!column || column->kind != KeyKind::flag) return {};
    at_ = word.at + word.length;
    return key;
  }

  /// Whether a comparison's sign or word follows; stays at the place.
  bool compares(size_t at) const {
    if (at < text_.size() && text_[at] == ':') return true;
    const bool after_blank = at < text_.size() && is_blank(text_[at]);
    while (at < text_.size() && is_blank(text_[at])) ++at;
    if (is_sign_at(at)) return true;
    if (!after_blank || at >= text_.size()) return false;
    const std::string_view word = cut(word_at(at));
    return word == "is" || word == "has" || word == "contains" || word == "in";
  }

  /// "best(loss)".
  FilterNode read_call(const Piece& function) {
    const std::string_view name = cut(function);
    const size_t close = text_.find(')', at_);
    if (std::ranges::find(aggregates(), name) == aggregates().end()) {
      const auto all = aggregates();
      const std::string near = nearest(name, {all.begin(), all.end()});
      refuse(function.at, function.length + 1,
             "“{}”: expected best, last, min, max or mean before the bracket{}; put it in quotes "
             "to look for it",
             near.empty() ? std::string() : "; did you mean " + near + "?");
      return {};
    }
    if (close == std::string_view::npos) {
      refuse(function.at, text_.size() - function.at, "“{}”: a ) is missing");
      return {};
    }
    at_ = close + 1;
    const Piece name_and_metric{function.at, at_ - function.at};
    if (!compares(at_)) {
      refuse(name_and_metric.at, name_and_metric.length,
             "“{}”: expected a comparison after it, as < 3");
      return {};
    }
    return read_comparison(name_and_metric);
  }

  FilterNode read_word(const Piece& piece) {
    const std::string_view word = cut(piece);
    if (word.find('"') != std::string_view::npos)
      refuse(piece.at, piece.length, "“{}”: quotes go around whole words");
    else if (bare_.length > 0)
      refuse(
          piece.at, piece.length,
          "“{}”: a value with blanks needs quotes, as in \"{} {}\"; “and” begins another condition",
          std::string(cut(bare_)), std::string(word));
    return word_node(std::string(word), piece.at);
  }

  /// `quoted`: the name may have any characters.
  FilterNode read_comparison(const Piece& name, bool quoted = false) {
    skip_blanks();
    const size_t sign_at = at_;
    while (!ends() && kSignLetters.find(text_[at_]) != std::string_view::npos) ++at_;
    std::string sign(text_.substr(sign_at, at_ - sign_at));
    if (sign.empty()) {
      const Piece word = word_at(at_);
      sign = cut(word);
      at_ += word.length;
      size_t next = at_;
      while (next < text_.size() && is_blank(text_[next])) ++next;
      if (sign == "is" && next < text_.size() && is_word_at(next, "not"))
        sign = "is not", at_ = next + 3;
    }
    if (name.length == 0) {
      refuse(sign_at, sign.size(), "“{}”: the name of a column or key is missing before it");
      return {};
    }
    const size_t begin = name.at;
    const auto how = sign == "in" ? How::equal : filter_sign(sign);
    if (!how) {
      refuse(begin, at_ - begin, "“{}”: the signs are : = != ~ !~ < <= > >=");
      return {};
    }
    const std::string key = key_called(cut(name));
    if (!quoted && !is_key(key) && !metric_key(key)) {
      refuse(begin, at_ - begin, "“{}”: a comparison begins with the name of a column or key");
      return {};
    }
    const size_t sign_end = at_;
    skip_blanks();
    if (sign == "in") return read_choice(key, begin);
    if (ends() || text_[at_] == ')' || is_or_at(at_) || is_and_at(at_)) {
      refuse(begin, sign_end - begin, "“{}”: a value is missing after it: {}",
             example_of(kind_of(key)));
      return {};
    }
    return read_value_of(key, *how, begin);
  }

  /// "(1e-4, 3e-4)": any of them.
  FilterNode read_choice(const std::string& key, size_t begin) {
    FilterNode node{Join::any};
    if (ends() || text_[at_] != '(') {
      refuse(begin, text_.substr(0, at_).find_last_not_of(" \t") + 1 - begin,
             "“{}”: expected values in brackets, as (1, 2)");
      return node;
    }
    const size_t close = text_.find(')', at_);
    if (close == std::string_view::npos) {
      refuse(begin, text_.size() - begin, "“{}”: a ) is missing");
      return node;
    }
    ++at_;
    while (!problem_ && at_ < close) {
      skip_blanks();
      const size_t comma = std::min(text_.find(", ", at_), close);
      const std::string_view text = text_.substr(0, comma);
      FilterParser one(text, now_);
      one.at_ = at_;
      node.parts.push_back(one.read_value_of(key, How::equal, at_));
      problem_ = one.problem_;
      at_ = comma == close ? close : comma + 1;
    }
    at_ = close + 1;
    if (node.parts.empty())
      refuse(begin, at_ - begin, "“{}”: expected values in the brackets, as (1, 2)");
    bare_ = {};
    return node;
  }

  FilterNode read_value_of(const std::string& key, How how, size_t begin) {
    const KeyKind kind = kind_of(key);
    const size_t value_at = at_;
    std::optional<WantedValue> value;
    const bool quoted = is_quote(text_[at_]);
    // A pattern is words, whatever the key.
    const KeyKind reads = how == How::like || how == How::unlike ? KeyKind::words : kind;
    if (quoted) {
      const auto text = read_quoted();
      if (!text) return {};
      value = read_value(reads, *text, now_);
    } else {
      value = read_bare(reads);
    }
    if (!value)
      refuse(begin, at_ - begin, "“{}”: {} is compared with {}", label_of(key), example_of(kind));
    else
      check(how, kind, key, *value, {begin, at_ - begin});
    const bool names = kind == KeyKind::words && !orders(how) && how != How::contains;
    bare_ = names && !quoted ? Piece{value_at, at_ - value_at} : Piece{};
    return test_node({how, key, value.value_or(WantedValue{}), begin, at_ - begin});
  }

  /// Whether the value can be compared so.
  void check(How how, KeyKind kind, const std::string& key, const WantedValue& value, Piece whole) {
    const bool words = kind == KeyKind::words || kind == KeyKind::state || kind == KeyKind::list ||
                       kind == KeyKind::flag;
    if (orders(how) && words)
      return refuse(whole.at, whole.length, "“{}”: {} is compared with : = != or ~", key);
    if (orders(how) && kind == KeyKind::open && !value.number)
      return refuse(whole.at, whole.length, "“{}”: < and > compare numbers");
    if (orders(how) && value.number && std::isnan(*value.number))
      return refuse(whole.at, whole.length, "“{}”: nan is compared with = or !=");
    if (kind == KeyKind::state && how != How::like && how != How::unlike)
      check_state(how, value, whole);
  }

  void check_state(How how, const WantedValue& value, Piece whole) {
    const std::vector<std::string> states = state_names();
    const bool exists = std::ranges::any_of(states, [&](const std::string& state) {
      return how == How::contains ? state.find(value.text) != std::string::npos
                                  : state == value.text;
    });
    if (exists) return;
    const std::string near = nearest(value.text, states);
    refuse(whole.at, whole.length, "“{}”: the state is {}{}", example_of(KeyKind::state),
           near.empty() ? std::string() : "; did you mean " + near + "?");
  }

  /// The longest of the next words that is a value of that kind: "2 h", "18 Nov".
  std::optional<WantedValue> read_bare(KeyKind kind) {
    std::vector<size_t> ends;
    const bool joins = kind != KeyKind::words && kind != KeyKind::state && kind != KeyKind::list;
    for (size_t end = at_;
         end < text_.size() && text_[end] != ')' && ends.size() < (joins ? kMaxValueWords : 1);) {
      while (end < text_.size() && !is_blank(text_[end]) && text_[end] != ')') ++end;
      ends.push_back(end);
      while (end < text_.size() && is_blank(text_[end])) ++end;
    }
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
      const std::string text = simplified(text_.substr(at_, *end - at_));
      auto value = read_value(kind, text, now_);
      // An open key's value of several words is a number with its unit, or it is one word.
      const bool one_word = end + 1 == ends.rend();
      if (value && (one_word || kind != KeyKind::open || value->number)) {
        at_ = *end;
        return value;
      }
    }
    at_ = ends.empty() ? at_ : ends.front();
    return std::nullopt;
  }

  static std::string simplified(std::string_view text) {
    std::string one;
    for (const char c : text)
      if (!is_blank(c))
        one += c;
      else if (!one.ends_with(' '))
        one += ' ';
    return one;
  }

  std::optional<std::string> read_quoted() {
    const size_t begin = at_;
    const size_t end = text_.find(text_[begin], begin + 1);
    if (end == std::string_view::npos) {
      refuse(begin, text_.size() - begin, "{}: the quote is not closed");
      at_ = text_.size();
      return std::nullopt;
    }
    at_ = end + 1;
    return std::string(text_.substr(begin + 1, end - begin - 1));
  }

  const std::string_view text_;
  const double now_;
  size_t at_ = 0;
  int depth_ = 0;
  size_t opened_ = 0;  // the last bracket
  std::optional<FilterProblem> problem_;
  Piece bare_;  // a name's value without quotes, which a word cannot follow
};

}  // namespace

std::optional<How> filter_sign(std::string_view sign) {
  const auto found = std::ranges::find(kSigns, sign, &std::pair<std::string_view, How>::first);
  return found == kSigns.end() ? std::nullopt : std::optional(found->second);
}

tl::expected<FilterNode, FilterProblem> parse_filter(std::string_view text, double now) {
  return FilterParser(text, now).parse();
}

}  // namespace heddle::workbench
