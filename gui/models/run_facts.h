// One run in enough depth for a page's side: details, loss curve, how its newest profiled step was
// spent.
#pragma once

#include <memory>
#include <optional>

#include "gui/charts/series.h"
#include "gui/timeline/timeline_data.h"
#include "storage/queries.h"
#include "workbench/run_steps.h"

namespace heddle::gui {

struct RunFacts {
  storage::RunDetail detail;
  Series loss;
  Series rate;  // tokens per second of the lowest rank; both begin with what was inherited
  std::shared_ptr<const workbench::RunSteps> steps;
  std::shared_ptr<const Timeline> timeline;   // the rank's, of the measured step; may be null
  std::shared_ptr<const Timeline> predicted;  // its stage's, as it was before the run; may be null
};

/// Reads it; curves have at most `points` points. `step` 0: the newest profiled one. Timelines are
/// of `rank`.
Result<RunFacts> readRunFacts(storage::Reader& reader, storage::RunId run, size_t points,
                              int64_t step = 0, int64_t rank = 0);

}  // namespace heddle::gui
