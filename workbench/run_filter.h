// The filter of runs: words, comparisons, and how they are joined. Plain data. Any thread.
//   debug "two words"        all of the words, in name, state, target, recipe, tags or notes
//   a b or not (c and d)     side by side is “and”; “or” binds less; “not” binds most
//   state is failed          is, is not, =, !=: equal. `:` contains. ~ a pattern: name ~ "debug*"
//   tags has "fp8"           has: one of the tags. lr in (1e-4, 3e-4): one of the values
//   lr > 1e-4  steps>1k      < <= > >=; any key of recipe, environment or results; best(loss) < 3:
//                            best, last, min, max or mean of a metric
//   tok/s a rank > 6k        a name as the table shows it; values too: what looks equal is equal
//   memory < 60 GiB  duration > 2 h  created > 2d  created > 2026-01-01  loss = nan
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "workbench/filter_values.h"

namespace heddle::workbench {

/// A place of the text that is not understood. No run matches a filter that has one.
struct FilterProblem {
  size_t at = 0, length = 0;  // in bytes
  std::string text;           // a sentence that quotes the place
};

/// One condition.
struct FilterTest {
  enum class How {
    word,
    contains,
    equal,
    differs,
    like,
    unlike,
    less,
    less_equal,
    greater,
    greater_equal
  };
  How how = How::word;
  std::string key;  // empty for a word
  WantedValue value;
  size_t at = 0, length = 0;  // where it is in the text
  KeyKind kind = KeyKind::open;
  double least = 0, most = 0;  // the range of numbers that the table writes like `value`
};

/// Conditions and how they are joined.
struct FilterNode {
  enum class Join { test, all, any, none };  // none: of its parts, the one, must not hold
  Join join = Join::all;
  FilterTest test = {};
  std::vector<FilterNode> parts = {};
};

class RunFilter {
 public:
  /// A key's value for the run at hand; nullopt: the run has none.
  using Lookup = std::function<std::optional<storage::Value>(const std::string& key)>;
  /// The text that plain words are looked for in.
  using Words = std::function<std::string()>;

  RunFilter() = default;
  /// `now`: what "yesterday" counts from.
  explicit RunFilter(std::string_view text, double now = unix_now());

  const std::optional<FilterProblem>& problem() const { return problem_; }
  /// The conditions on that key cannot be judged.
  void refuse(const std::string& key, const std::string& why);
  bool empty() const { return !problem_ && root_.parts.empty(); }
  /// Keys that are compared, each once.
  std::vector<std::string> keys() const;
  bool matches(const Words& words, const Lookup& lookup) const;
  /// The moments that its ages stand for, in its order: "created > 7d: after 2026-11-20 14:10".
  std::vector<std::string> readings() const;

 private:
  FilterNode root_;
  std::optional<FilterProblem> problem_;
};

}  // namespace heddle::workbench
