// Cuts a text into the pieces that BPE works on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/utf8.h"
#include "engine/data/regex.h"

namespace heddle::data {

/// A sequence of steps, each applied to the pieces of the one before. Threads: as Regex.
class PreTokenizer {
 public:
  /// Every match becomes a piece, and what lies between matches.
  void add_split(Regex regex) { steps_.push_back({std::move(regex)}); }
  /// A piece that does not begin with a space gets one.
  void add_prefix_space() { steps_.push_back({}); }

  /// Calls `emit(piece)` for each piece of a well-formed UTF-8 text, in order; none is empty.
  template <typename Emit>
  Result<> split(std::string_view text, Emit&& emit) {
    return split_from(0, text, emit);
  }

 private:
  struct Step {
    std::optional<Regex> regex;  // none: the prefix space
  };

  template <typename Emit>
  Result<> split_from(size_t step, std::string_view text, Emit& emit);

  std::vector<Step> steps_;
};

template <typename Emit>
Result<> PreTokenizer::split_from(size_t step, std::string_view text, Emit& emit) {
  if (text.empty()) return {};
  if (step == steps_.size()) {
    emit(text);
    return {};
  }
  if (!steps_[step].regex) {
    if (text.front() == ' ') return split_from(step + 1, text, emit);
    std::string spaced(1, ' ');
    spaced += text;
    return split_from(step + 1, spaced, emit);
  }
  size_t begin = 0;  // of what is not handed on yet
  size_t from = 0;   // where the next match is looked for; beyond `begin` after an empty match
  while (from < text.size()) {
    const Result<std::optional<Match>> match = steps_[step].regex->find(text, from);
    if (!match) return fail(match);
    if (!*match) break;
    const auto [match_begin, match_end] = **match;
    if (match_begin == match_end) {
      if (match_end == text.size()) break;
      from = match_end + character_length(text.substr(match_end));
      continue;
    }
    if (auto done = split_from(step + 1, text.substr(begin, match_begin - begin), emit); !done)
      return done;
    if (auto done = split_from(step + 1, text.substr(match_begin, match_end - match_begin), emit);
        !done)
      return done;
    begin = from = match_end;
  }
  return split_from(step + 1, text.substr(begin), emit);
}

}  // namespace heddle::data
