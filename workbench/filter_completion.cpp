#include "workbench/filter_completion.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "engine/telemetry/metrics.h"
#include "workbench/filter_parser.h"

namespace heddle::workbench {
namespace {

using Expects = FilterCompletion::Expects;

constexpr int64_t kUsualTail = 100;

struct Token {
  enum class Kind { word, sign, open, close };
  Kind kind;
  size_t at, length;
};

bool is_sign_letter(char c) {
  return c == '<' || c == '>' || c == '=' || c == '!' || c == '~' || c == ':';
}

bool is_break(char c) {
  return std::isspace(static_cast<unsigned char>(c)) || c == '(' || c == ')' ||
         (is_sign_letter(c) && c != '!');
}

/// The text's words, signs and brackets. A name with blanks and a call are one word.
std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const size_t begin = at;
    if (std::isspace(static_cast<unsigned char>(c))) {
      ++at;
    } else if (c == '(' || c == ')') {
      tokens.push_back({c == '(' ? Token::Kind::open : Token::Kind::close, at++, 1});
    } else if (is_sign_letter(c)) {
      while (at < text.size() && is_sign_letter(text[at])) ++at;
      tokens.push_back({Token::Kind::sign, begin, at - begin});
    } else if (c == '"' || c == '\'') {
      const size_t end = text.find(c, at + 1);
      at = end == std::string_view::npos ? text.size() : end + 1;
      tokens.push_back({Token::Kind::word, begin, at - begin});
    } else {
      at += long_name(text.substr(at));
      while (at < text.size() && !is_break(text[at])) ++at;
      const auto all = aggregates();
      if (at < text.size() && text[at] == '(' &&
          std::ranges::find(all, text.substr(begin, at - begin)) != all.end())
        while (at < text.size() && text[at - 1] != ')') ++at;
      tokens.push_back({Token::Kind::word, begin, at - begin});
    }
  }
  return tokens;
}

bool fits(std::string_view candidate, std::string_view typed) {
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  return typed.empty() || !std::ranges::search(candidate, typed, same).empty();
}

bool begins(std::string_view candidate, std::string_view typed) {
  return candidate.size() >= typed.size() && fits(candidate.substr(0, typed.size()), typed);
}

bool is_joining(std::string_view word) {
  return word == "and" || word == "or" || word == "not" || word == "&&" || word == "||";
}

/// The words of a list and a text with blanks need quotes.
std::string as_value(const std::string& text) {
  const bool plain = std::ranges::none_of(text, [](unsigned char c) {
    return std::isspace(c) || c == '(' || c == ')' || c == '"' || c == '\'';
  });
  if (plain && !text.empty()) return text;
  return text.find('"') == std::string::npos ? '"' + text + '"' : '\'' + text + '\'';
}

std::vector<FilterCandidate> names_for(const RunKeys& keys, const std::string& typed) {
  std::vector<FilterCandidate> names;
  for (const FilterColumn& column : filter_columns())
    names.push_back({std::string(column.key),
                     column.label == column.key ? std::string() : std::string(column.label)});
  for (const std::string& metric : keys.metrics) {
    const telemetry::Metric& known = telemetry::metric(metric);
    if (known.better != telemetry::Better::neither && metric != "loss")
      names.push_back({"best(" + metric + ")", telemetry::words_of(metric)});
    names.push_back({"last(" + metric + ")", telemetry::words_of(metric)});
    if (!typed.empty())
      for (const char* aggregate : {"min", "max", "mean"})
        for (const int64_t tail : {int64_t{0}, kUsualTail}) {
          const std::string key = to_string({aggregate, metric, tail});
          names.push_back({key, tail == 0 ? telemetry::words_of(metric) : label_of(key)});
        }
  }
  for (const std::string& column : keys.columns) {
    // The end alone, where it names that column only.
    const std::string end = column.substr(column.rfind('.') + 1);
    const bool alone = !filter_column(end) &&
                       1 == std::ranges::count_if(keys.columns, [&](const std::string& other) {
                         return names_column(end, other);
                       });
    names.push_back({alone ? end : column, alone ? column : std::string()});
  }
  return names;
}

bool is_key(const RunKeys& keys, const std::string& key) {
  return filter_column(key) || metric_key(key) ||
         std::ranges::find(keys.metrics, key) != keys.metrics.end() ||
         std::ranges::any_of(keys.columns,
                             [&](const std::string& column) { return names_column(key, column); });
}

std::vector<FilterCandidate> signs_for(KeyKind kind) {
  switch (kind) {
    case KeyKind::state:
    case KeyKind::flag:
      return {{"is", "equal"}, {"is not", "differs"}};
    case KeyKind::list:
      return {
          {"has", "one of them is"}, {":", "one of them contains"}, {"~", "a pattern, as \"fp*\""}};
    case KeyKind::words:
      return {
          {":", "contains"}, {"=", "equal"}, {"!=", "differs"}, {"~", "a pattern, as \"glob*\""}};
    default:
      return {{"<", "less"},      {">", "more"},  {"<=", "at most"},
              {">=", "at least"}, {"=", "equal"}, {"!=", "differs"}};
  }
}

/// Candidates that begin with the typed text come first.
void rank(std::vector<FilterCandidate>& all, const std::string& typed, size_t limit) {
  std::erase_if(all, [&](const FilterCandidate& one) {
    return !fits(one.text, typed) && !fits(one.detail, typed);
  });
  std::ranges::stable_sort(all, [&](const FilterCandidate& a, const FilterCandidate& b) {
    return begins(a.text, typed) && !begins(b.text, typed);
  });
  if (all.size() > limit) all.resize(limit);
}

}  // namespace

FilterCompletion completion_at(std::string_view text, size_t cursor) {
  cursor = std::min(cursor, text.size());
  const std::string_view before = text.substr(0, cursor);
  std::vector<Token> tokens = tokens_of(before);
  FilterCompletion found;
  found.at = cursor;
  // The last word is being typed while the cursor touches it.
  if (!tokens.empty() && tokens.back().kind == Token::Kind::word &&
      tokens.back().at + tokens.back().length == cursor) {
    found.at = tokens.back().at;
    found.length = tokens.back().length;
    found.typed = before.substr(found.at, found.length);
    if (found.typed.starts_with('"') || found.typed.starts_with('\'')) found.typed.erase(0, 1);
    tokens.pop_back();
  }
  const auto word = [&](size_t back) -> std::string_view {
    if (tokens.size() < back + 1) return {};
    const Token& token = tokens[tokens.size() - 1 - back];
    return token.kind == Token::Kind::word || token.kind == Token::Kind::sign
               ? before.substr(token.at, token.length)
               : std::string_view();
  };
  const std::string_view last = word(0);
  if (last.empty() || is_joining(last)) {
    // After "x is not" the value comes.
    if (last == "not" && word(1) == "is" && !word(2).empty()) {
      found.expects = Expects::value;
      found.key = key_called(word(2));
      return found;
    }
    const bool closed = !tokens.empty() && tokens.back().kind == Token::Kind::close;
    found.expects = closed ? Expects::join : Expects::name;
    return found;
  }
  if (filter_sign(last) || last == "in") {
    found.expects = Expects::value;
    found.key = key_called(word(1));
    return found;
  }
  // A word after a sign is a value; else it is a name, which a sign follows.
  const bool was_value = filter_sign(word(1)) || (word(1) == "not" && word(2) == "is");
  found.key = was_value ? std::string() : key_called(last);
  found.expects = was_value ? Expects::join : Expects::sign;
  return found;
}

std::vector<FilterCandidate> candidates(const FilterCompletion& completion, const RunKeys& keys,
                                        const std::vector<std::string>& values, size_t limit) {
  std::vector<FilterCandidate> all;
  switch (completion.expects) {
    case Expects::name:
      all = names_for(keys, completion.typed);
      break;
    case Expects::sign:
      // Any other word is taken as it is.
      if (is_key(keys, completion.key))
        all = signs_for(kind_of(completion.key));
      else
        all = {{"and", "both"}, {"or", "either"}};
      break;
    case Expects::join:
      all = {{"and", "both"}, {"or", "either"}};
      break;
    case Expects::value: {
      const KeyKind kind = kind_of(completion.key);
      if (kind == KeyKind::state)
        for (const std::string& state : state_names()) all.push_back({state, {}});
      else if (kind == KeyKind::flag)
        all = {{"yes", {}}, {"no", {}}};
      else if (kind == KeyKind::date)
        all = {{"today", {}}, {"yesterday", {}}, {"2d", "two days ago"}, {"1w", "a week ago"}};
      else
        for (const std::string& value : std::set<std::string>(values.begin(), values.end()))
          all.push_back({as_value(value), {}});
      break;
    }
  }
  rank(all, completion.typed, limit);
  return all;
}

}  // namespace heddle::workbench
