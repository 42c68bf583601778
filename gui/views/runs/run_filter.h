// The filter of the runs table: words and comparisons. Plain data.
//   debug "two words"      words: in name, state, target, recipe, tags or notes; all must be there
//   state:done             contains; `=` is equal
//   lr>1e-4  loss<=5       numbers; also of any key of recipe, environment or results
//   steps>1k  memory<2 GiB  duration>2 h  created>2026-01-01  loss=nan
//                          values as the table writes them: what looks equal there is equal
//   a b or c               a and b, or else c
#pragma once

#include <QDateTime>
#include <QString>
#include <QStringList>
#include <functional>
#include <optional>
#include <vector>

#include "gui/views/runs/run_keys.h"
#include "storage/run.h"

namespace heddle::gui {

class RunFilter {
 public:
  enum class Test { word, contains, equal, differs, less, lessEqual, greater, greaterEqual };

  struct Term {
    Test test = Test::word;
    QString key;  // empty for a word
    WantedValue value;
    qsizetype at = 0, length = 0;  // where it is in the text
  };
  /// A place that is not understood. No run matches a filter that has one.
  struct Problem {
    qsizetype at = 0, length = 0;
    QString text;  // a sentence that quotes the place
  };

  /// Looks up a key's value for a run; nullopt: the run has none.
  using Lookup = std::function<std::optional<storage::Value>(const QString& key)>;

  RunFilter() = default;
  /// `now`: what "yesterday" counts from.
  explicit RunFilter(const QString& text, const QDateTime& now = QDateTime::currentDateTime());

  const std::optional<Problem>& problem() const { return problem_; }
  /// The comparison with that key cannot be made: nothing is called so.
  void refuse(const QString& key, const QString& why);
  bool empty() const { return !problem_ && anyOf_.empty(); }
  /// Keys that are compared, each once.
  QStringList keys() const;
  /// `words`: what a plain word is looked for in.
  bool matches(const QString& words, const Lookup& lookup) const;

 private:
  std::vector<std::vector<Term>> anyOf_;  // all terms of one of these must hold
  std::optional<Problem> problem_;
};

}  // namespace heddle::gui
