// One run in enough depth for a page's side: details, loss curve, how its newest profiled step was
// spent.
#pragma once

#include "gui/charts/series.h"
#include "gui/models/step_facts.h"
#include "storage/queries.h"

namespace heddle::gui {

struct RunFacts : StepFacts {
  storage::RunDetail detail;
  Series loss;  // begins with what was inherited
};

/// Reads it; the curve has at most `points` points. The step is the newest profiled one.
Result<RunFacts> readRunFacts(storage::Reader& reader, storage::RunId run, size_t points);

}  // namespace heddle::gui
