// Cuts a text into the pieces that BPE works on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/utf8.h"
#include "engine/data/regex.h"

namespace heddle::data {

/// What SentencePiece writes for a space.
inline constexpr std::string_view kMetaspace = "\u2581";

/// Which texts get a space before them that do not begin with one: of the parts between added
/// tokens all, or what the whole begins with.
enum class PrefixSpace : uint8_t { never, first, always };

/// A sequence of steps, each applied to the pieces of the one before. Threads: as Regex.
class PreTokenizer {
 public:
  /// Every match becomes a piece, and what lies between matches.
  void add_split(Regex regex) { steps_.push_back({.regex = std::move(regex)}); }
  /// A piece that does not begin with a space gets one.
  void add_prefix_space() { steps_.push_back({}); }
  /// Spaces become kMetaspace; with `splits` each begins a piece. Comes alone.
  void add_metaspace(PrefixSpace prefix, bool splits) {
    steps_.push_back({.metaspace = Metaspace{prefix, splits}});
  }

  /// Calls `emit(piece)` for each piece of a well-formed UTF-8 text, in order; none is empty.
  /// `is_first`: nothing comes before the text.
  template <typename Emit>
  Result<> split(std::string_view text, bool is_first, Emit&& emit) {
    is_first_ = is_first;
    return split_from(0, text, emit);
  }

 private:
  struct Metaspace {
    PrefixSpace prefix = PrefixSpace::never;
    bool splits = false;
  };
  struct Step {
    std::optional<Regex> regex = {};
    std::optional<Metaspace> metaspace = {};  // neither: the prefix space
  };

  template <typename Emit>
  Result<> split_from(size_t step, std::string_view text, Emit& emit);
  template <typename Emit>
  Result<> split_at_metaspaces(size_t step, std::string_view text, Emit& emit);

  std::vector<Step> steps_;
  bool is_first_ = true;
};

/// The text with every space as kMetaspace.
inline std::string with_metaspaces(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 2);
  for (const char c : text)
    if (c == ' ')
      out += kMetaspace;
    else
      out += c;
  return out;
}

template <typename Emit>
Result<> PreTokenizer::split_at_metaspaces(size_t step, std::string_view text, Emit& emit) {
  const Metaspace& how = *steps_[step].metaspace;
  std::string spelled = with_metaspaces(text);
  const bool wanted =
      how.prefix == PrefixSpace::always || (how.prefix == PrefixSpace::first && is_first_);
  if (wanted && !spelled.starts_with(kMetaspace)) spelled.insert(0, kMetaspace);
  if (!how.splits) return split_from(step + 1, spelled, emit);
  for (size_t begin = 0; begin < spelled.size();) {
    const size_t end = std::min(spelled.find(kMetaspace, begin + 1), spelled.size());
    if (auto done =
            split_from(step + 1, std::string_view(spelled).substr(begin, end - begin), emit);
        !done)
      return done;
    begin = end;
  }
  return {};
}

template <typename Emit>
Result<> PreTokenizer::split_from(size_t step, std::string_view text, Emit& emit) {
  if (text.empty()) return {};
  if (step == steps_.size()) {
    emit(text);
    return {};
  }
  if (steps_[step].metaspace) return split_at_metaspaces(step, text, emit);
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
