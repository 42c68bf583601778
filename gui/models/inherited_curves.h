// The curves that a resumed run begins with: its parent's, up to the checkpoint, and before that
// the parent's own parent's. A fork is another branch: it begins its own.
#pragma once

#include <QString>
#include <optional>

#include "gui/charts/series.h"
#include "storage/queries.h"

namespace heddle::gui {

struct InheritedCurves {
  QString name;  // of the parent, as in "debug"
  Series loss;   // as the lowest rank reports it
  Series rate;   // tokens per second, mean of the ranks
  Series bytes;  // of the rank that holds most
};

/// nullopt: the run was not resumed, or its parent is not in the store any more. At most `points`
/// points for each run.
Result<std::optional<InheritedCurves>> readInheritedCurves(storage::Reader& reader,
                                                           const storage::RunSummary& run,
                                                           size_t points);

/// One metric of one rank, at most `points` points: means of neighbours, and NaN where one of them
/// is not finite.
Result<Series> readCurve(storage::Reader& reader, storage::RunId run, const std::string& metric,
                         int32_t rank, storage::StepRange range, size_t points);

}  // namespace heddle::gui
