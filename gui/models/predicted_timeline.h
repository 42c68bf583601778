// The timelines that a run's steps were predicted to have.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gui/timeline/timeline_data.h"
#include "workbench/run_steps.h"

namespace heddle::gui {

/// The timeline of one rank for its whole pipeline stage.
struct PredictedTimeline {
  int64_t rank = 0;
  std::shared_ptr<const Timeline> timeline;
};

/// None where nothing was predicted.
std::vector<PredictedTimeline> predictedTimelines(const workbench::RunSteps& run);

}  // namespace heddle::gui
