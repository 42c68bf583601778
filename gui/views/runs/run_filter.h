// The filter of the runs table: words and comparisons, all of which must hold. Plain data.
//   debug                  a word: in name, state, target, recipe or tags
//   state:done             contains; `=` is equal
//   lr>1e-4  loss<=5       numbers; also of any key of recipe, environment or results
#pragma once

#include <QString>
#include <QStringList>
#include <functional>
#include <optional>
#include <vector>

#include "storage/run.h"

namespace heddle::gui {

class RunFilter {
 public:
  enum class Test { word, contains, equal, differs, less, lessEqual, greater, greaterEqual };

  struct Term {
    Test test = Test::word;
    QString key;  // empty for a word
    QString value;
  };

  /// Looks up a key's value for a run; nullopt: the run has none.
  using Lookup = std::function<std::optional<storage::Value>(const QString& key)>;

  RunFilter() = default;
  explicit RunFilter(const QString& text);

  const std::vector<Term>& terms() const { return terms_; }
  bool empty() const { return terms_.empty(); }
  /// Keys that are compared, each once.
  QStringList keys() const;
  /// `words`: what a plain word is looked for in.
  bool matches(const QString& words, const Lookup& lookup) const;

 private:
  std::vector<Term> terms_;
};

}  // namespace heddle::gui
