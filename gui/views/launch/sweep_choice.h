// A sweep as it is chosen on the page: keys with their values, how they become runs, how many at
// once, which are stopped early. No widgets.
#pragma once

#include <QList>
#include <QString>
#include <optional>
#include <vector>

#include "base/result.h"
#include "storage/queue.h"
#include "workbench/launch.h"
#include "workbench/sweep.h"

namespace heddle::gui {

struct SweepChoice {
  struct Key {
    QString key;     // dotted, or its last part
    QString values;  // as --set takes them: "1e-4, 3e-4", "log(1e-5..1e-3)"
    bool operator==(const Key&) const = default;
  };
  QList<Key> keys;
  bool random = false;
  int picks = 10;  // of a random sweep
  int seed = 0;
  int atOnce = 1;
  QString metric;  // by which the worst are stopped; empty: none is
  int keep = 1;    // runs that train to the end, then

  bool operator==(const SweepChoice&) const = default;
};

/// The recipe that is swept.
struct SweptRecipe {
  QString text;
  QString file;   // names it in faults
  int ranks = 0;  // 0: its own
};

/// The runs that a choice makes, each with whether the recipe bears its values.
Result<std::vector<workbench::SweepRun>> runsOf(const SweepChoice& choice,
                                                const SweptRecipe& recipe);

/// How its runs are halved; without rungs: not at all.
Result<storage::Halving> halvingOf(const SweepChoice& choice, const SweptRecipe& recipe,
                                   const std::vector<workbench::SweepRun>& runs);

/// The steps of one of its runs.
int64_t stepsOf(const SweptRecipe& recipe, const workbench::SweepRun& run);

/// "4 runs: lr 1e-4, 3e-4; weight_decay 0, 0.1".
QString wordsOf(const SweepChoice& choice, size_t runs);

}  // namespace heddle::gui
