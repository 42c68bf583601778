// One run in enough depth for a page's side: details, loss curve, how its newest profiled step was
// spent.
#pragma once

#include <memory>
#include <optional>

#include "gui/charts/series.h"
#include "gui/timeline/timeline_data.h"
#include "storage/queries.h"

namespace heddle::gui {

struct RunFacts {
  storage::RunDetail detail;
  Series loss;
  Series rate;                                // tokens per second of rank 0
  int64_t profiledStep = 0;                   // 0: none
  std::shared_ptr<const Timeline> timeline;   // rank 0's, of that step; may be null
  std::shared_ptr<const Timeline> predicted;  // rank 0's, as it was before the run; may be null
};

/// Reads it; curves have at most `points` points. `step` 0: the newest profiled one.
Result<RunFacts> readRunFacts(storage::Reader& reader, storage::RunId run, size_t points,
                              int64_t step = 0);

}  // namespace heddle::gui
