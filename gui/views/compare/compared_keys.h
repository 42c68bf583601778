// The keys of recipe, environment and results as the page shows them: texts, the best value, and
// each number as its difference from the baseline's. Tables, colours and charts are made of them.
#pragma once

#include <QStringList>
#include <QVector>
#include <optional>
#include <vector>

#include "storage/difference.h"
#include "storage/queries.h"

namespace heddle::gui {

struct ComparedKey {
  enum class Kind { recipe, environment, result, predicted };

  Kind kind = Kind::recipe;
  storage::Compared compared;  // a predicted key lacks telemetry::kPredicted
  QString name;                // as a label
  QString meaning;             // more than the name tells; mostly empty
  // An entry a run.
  QStringList texts;
  QVector<bool> best;
  std::vector<std::optional<storage::Difference>> differences;

  bool isResult() const { return kind == Kind::result || kind == Kind::predicted; }
  /// The run's finite number; none: it has another value or none.
  std::optional<double> number(size_t run) const;
  /// Empty where there is no difference to tell: of the baseline itself, of words.
  QString differenceText(size_t run) const;
};

/// Keys in the order in which they are shown, results by the order of metrics; `all`: those too
/// that are the same in every run. `baseline`: a run of the comparison; none if it is not.
std::vector<ComparedKey> comparedKeys(const storage::Comparison& comparison, size_t baseline,
                                      bool all);

/// The group's title: "Recipe".
QString titleOf(ComparedKey::Kind kind);

}  // namespace heddle::gui
