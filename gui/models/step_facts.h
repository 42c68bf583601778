// A run's predicted and measured step, indexed for timelines.
#pragma once

#include <memory>

#include "gui/timeline/timeline_data.h"
#include "workbench/run_steps.h"

namespace heddle::gui {

struct StepFacts {
  std::shared_ptr<const workbench::RunSteps> steps;
  std::shared_ptr<const Timeline> timeline;   // the rank's, of the measured step; may be null
  std::shared_ptr<const Timeline> predicted;  // its stage's, as it was before the run; may be null
};

/// `step` 0: the newest profiled one. Timelines are of `rank`.
Result<StepFacts> readStepFacts(storage::Reader& reader, const storage::RunDetail& run,
                                int64_t step = 0, int64_t rank = 0);

}  // namespace heddle::gui
