// The keys of recipe, environment and results as the page shows them: texts, the best value, and
// each number as its difference from the baseline's. Tables, colours and charts are made of them.
#pragma once

#include <QStringList>
#include <QVector>
#include <memory>
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

  bool isResult() const { return kind == Kind::result || kind == Kind::predicted; }
  /// The run's finite number; none: it has another value or none.
  std::optional<double> number(size_t run) const;
  /// None for the baseline itself and for values without a difference, such as words. `baseline`: a
  /// run's index; any other number if there is none.
  std::optional<storage::Difference> difference(size_t run, size_t baseline) const;
  QString differenceText(size_t run, size_t baseline) const;
};

/// There may be thousands: all views share them.
using ComparedKeys = std::shared_ptr<const std::vector<ComparedKey>>;

/// Keys in the order in which they are shown, results by the order of metrics; `all`: those too
/// that are the same in every run. Any thread.
ComparedKeys comparedKeys(const storage::Comparison& comparison, bool all);

/// The group's title: "Recipe".
QString titleOf(ComparedKey::Kind kind);

}  // namespace heddle::gui
