#include "gui/models/predicted_timeline.h"

#include <cmath>

namespace heddle::gui {

std::vector<PredictedTimeline> predictedTimelines(const workbench::RunSteps& run) {
  std::vector<PredictedTimeline> predicted;
  if (!run.document) return predicted;
  const auto step = static_cast<int64_t>(std::llround(run.document->step_seconds * 1e6));
  for (const plan::RankTimeline& rank : run.document->timelines)
    predicted.push_back({rank.rank, std::make_shared<const Timeline>(rank.spans, step)});
  return predicted;
}

}  // namespace heddle::gui
