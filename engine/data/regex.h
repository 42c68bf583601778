// A tokenizer's regular expression: written for Oniguruma (what Hugging Face's tokenizers use),
// matched by PCRE2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace heddle::data {

/// A span of the subject, in bytes.
struct Match {
  size_t begin = 0;
  size_t end = 0;
};

/// Threads: `find` writes into the object's own match data, so one thread at a time.
class Regex {
 public:
  /// `pattern` in Oniguruma's Ruby syntax.
  static Result<Regex> compile(std::string_view pattern);
  /// The expression that matches `text` itself.
  static Result<Regex> literal(std::string_view text);

  /// The first match in `text` at or after `from`, none if there is none; `text` is well-formed
  /// UTF-8. Fails when the expression needs more steps or memory than PCRE2 allows, and where \K
  /// makes a match end before it begins.
  Result<std::optional<Match>> find(std::string_view text, size_t from);

 private:
  friend class Matches;
  struct Compiled;
  struct Free {
    void operator()(Compiled* compiled) const;
  };
  enum class Found : uint8_t { match, none, failed };
  explicit Regex(std::unique_ptr<Compiled, Free> compiled) : compiled_(std::move(compiled)) {}
  /// `find` without what it costs to say why: the inner loop of splitting.
  Found search(std::string_view text, size_t from, Match& match);
  tl::unexpected<Error> failure(std::string_view text, size_t from) const;

  std::unique_ptr<Compiled, Free> compiled_;
};

/// The matches in a text, from left to right: as Oniguruma's, those that are empty, too, but for an
/// empty one where the match before it ended. Threads: as Regex.
class Matches {
 public:
  Matches(Regex& regex, std::string_view text) : regex_(regex), text_(text) {}

  /// The next one, if there is one; where there is none, `outcome` says whether that is the end.
  bool next(Match& match);
  Result<> outcome() const;

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  Regex& regex_;
  std::string_view text_;
  size_t from_ = 0;
  size_t last_end_ = kNone;
  bool failed_ = false;
};

}  // namespace heddle::data
