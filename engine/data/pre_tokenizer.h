// Cuts a text into the pieces that BPE works on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "engine/data/byte_level.h"
#include "engine/data/regex.h"

namespace heddle::data {

/// SentencePiece's space.
inline constexpr std::string_view kMetaspace = "\u2581";

/// Which texts get a space before them that do not begin with one: of the parts between added
/// tokens all, or what the whole begins with.
enum class PrefixSpace : uint8_t { never, first, always };

/// A split turns its matches into pieces, nothing, or parts of their neighbours.
enum class Behavior : uint8_t {
  isolated,
  removed,
  merged_with_previous,
  merged_with_next,
  contiguous
};

/// A sequence of steps, each applied to the pieces of the one before. Threads: as Regex.
class PreTokenizer {
 public:
  /// `invert`: the text between matches counts as one.
  void add_split(Regex regex, Behavior behavior = Behavior::isolated, bool invert = false) {
    steps_.emplace_back(Split{std::move(regex), behavior, invert});
  }
  /// A piece that does not begin with a space gets one.
  void add_prefix_space() { steps_.emplace_back(Space{}); }
  /// Spaces become kMetaspace; with `splits` each begins a piece.
  void add_metaspace(PrefixSpace prefix, bool splits) {
    steps_.emplace_back(Metaspace{prefix, splits});
  }
  /// Bytes become the characters of the byte-level alphabet.
  void add_spelling() { steps_.emplace_back(Spelling{}); }

  size_t steps() const { return steps_.size(); }

  /// Calls `emit(piece)`, which returns a Result, for each piece of a well-formed UTF-8 text, in
  /// order; none is empty. `is_first`: nothing comes before the text.
  template <typename Emit>
  Result<> split(std::string_view text, bool is_first, Emit&& emit) {
    return split_from(0, text, is_first, emit);
  }

 private:
  struct Split {
    Regex regex;
    Behavior behavior;
    bool invert;
  };
  struct Space {};
  struct Metaspace {
    PrefixSpace prefix;
    bool splits;
  };
  struct Spelling {};

  template <typename Emit>
  Result<> split_from(size_t step, std::string_view text, bool is_first, Emit& emit);
  template <typename Emit>
  Result<> apply(Split& split, size_t step, std::string_view text, bool is_first, Emit& emit);
  template <typename Emit>
  Result<> apply(Space&, size_t step, std::string_view text, bool is_first, Emit& emit);
  template <typename Emit>
  Result<> apply(Metaspace& how, size_t step, std::string_view text, bool is_first, Emit& emit);
  template <typename Emit>
  Result<> apply(Spelling&, size_t step, std::string_view text, bool is_first, Emit& emit);

  std::vector<std::variant<Split, Space, Metaspace, Spelling>> steps_;
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

/// Joins matches and the gaps between them to pieces, as a behavior has it.
template <typename Emit>
class Joiner {
 public:
  Joiner(Behavior behavior, Emit& emit) : behavior_(behavior), emit_(emit) {}

  Result<> take(Match place, bool is_match) {
    const bool before_matched = std::exchange(matched_, is_match);
    switch (behavior_) {
      case Behavior::isolated:
        return emit_(place);
      case Behavior::removed:
        return is_match ? Result<>() : emit_(place);
      case Behavior::merged_with_previous:
        return hold(place, is_match && !before_matched);
      case Behavior::contiguous:
        return hold(place, is_match == before_matched);
      case Behavior::merged_with_next:
        break;
    }
    if (!is_match && pending_ && before_matched) {
      pending_->end = place.end;
      return finish();
    }
    if (auto done = finish(); !done) return done;
    if (!is_match) return emit_(place);
    pending_ = place;
    return {};
  }
  Result<> finish() {
    const auto last = std::exchange(pending_, std::nullopt);
    return last ? emit_(*last) : Result<>();
  }

 private:
  Result<> hold(Match place, bool joins) {
    if (joins && pending_) {
      pending_->end = place.end;
      return {};
    }
    if (auto done = finish(); !done) return done;
    pending_ = place;
    return {};
  }

  Behavior behavior_;
  Emit& emit_;
  std::optional<Match> pending_;
  bool matched_ = false;
};

template <typename Emit>
Result<> PreTokenizer::apply(Split& split, size_t step, std::string_view text, bool is_first,
                             Emit& emit) {
  auto piece = [&](Match place) {
    return split_from(step + 1, text.substr(place.begin, place.end - place.begin),
                      is_first && place.begin == 0, emit);
  };
  Joiner joiner(split.behavior, piece);
  Matches matches(split.regex, text);
  size_t at = 0;  // of what is not handed on yet
  for (Match match; matches.next(match); at = match.end) {
    if (match.begin > at)
      if (auto done = joiner.take({at, match.begin}, split.invert); !done) return done;
    if (auto done = joiner.take(match, !split.invert); !done) return done;
  }
  if (auto all = matches.outcome(); !all) return all;
  if (at < text.size())
    if (auto done = joiner.take({at, text.size()}, split.invert); !done) return done;
  return joiner.finish();
}

template <typename Emit>
Result<> PreTokenizer::apply(Space&, size_t step, std::string_view text, bool is_first,
                             Emit& emit) {
  if (text.front() == ' ') return split_from(step + 1, text, is_first, emit);
  std::string spaced(1, ' ');
  spaced += text;
  return split_from(step + 1, spaced, is_first, emit);
}

template <typename Emit>
Result<> PreTokenizer::apply(Metaspace& how, size_t step, std::string_view text, bool is_first,
                             Emit& emit) {
  std::string spelled = with_metaspaces(text);
  const bool wanted =
      how.prefix == PrefixSpace::always || (how.prefix == PrefixSpace::first && is_first);
  if (wanted && !spelled.starts_with(kMetaspace)) spelled.insert(0, kMetaspace);
  if (!how.splits) return split_from(step + 1, spelled, is_first, emit);
  for (size_t begin = 0; begin < spelled.size();) {
    const size_t end = std::min(spelled.find(kMetaspace, begin + 1), spelled.size());
    const auto piece = std::string_view(spelled).substr(begin, end - begin);
    if (auto done = split_from(step + 1, piece, is_first && begin == 0, emit); !done) return done;
    begin = end;
  }
  return {};
}

template <typename Emit>
Result<> PreTokenizer::apply(Spelling&, size_t step, std::string_view text, bool is_first,
                             Emit& emit) {
  return split_from(step + 1, spelling_of_bytes(text), is_first, emit);
}

template <typename Emit>
Result<> PreTokenizer::split_from(size_t step, std::string_view text, bool is_first, Emit& emit) {
  if (text.empty()) return {};
  if (step == steps_.size()) return emit(text);
  return std::visit([&](auto& each) { return apply(each, step, text, is_first, emit); },
                    steps_[step]);
}

}  // namespace heddle::data
