// The curves that a resumed run continues: its parent's up to the checkpoint, and before that the
// grandparent's. A fork is another branch: it starts its own.
#pragma once

#include <QString>
#include <vector>

#include "gui/charts/series.h"
#include "storage/queries.h"

namespace heddle::gui {

/// A run on the line of descent, and its steps that count.
struct Ancestor {
  storage::RunId run = 0;
  QString name;  // as in "debug"
  std::vector<int32_t> ranks;
  storage::StepRange steps;
};

/// The oldest first. Empty: the run was not resumed, or its parent is not in the store any more.
Result<std::vector<Ancestor>> readAncestors(storage::Reader& reader,
                                            const storage::RunSummary& run);

/// The loss of these runs, as the lowest rank reports it. At most `points` points for each run.
Result<Series> readInheritedLoss(storage::Reader& reader, const storage::RunSummary& run,
                                 size_t points);

/// One metric of one rank, at most `points` points: means of neighbours, and NaN where one of them
/// is not finite.
Result<Series> readCurve(storage::Reader& reader, storage::RunId run, const std::string& metric,
                         int32_t rank, storage::StepRange range, size_t points);

}  // namespace heddle::gui
