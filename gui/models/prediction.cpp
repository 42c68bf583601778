#include "gui/models/prediction.h"

#include <cmath>
#include <utility>

#include "gui/models/module_times.h"

namespace heddle::gui {

std::shared_ptr<const Prediction> predictionOf(plan::Document document) {
  auto prediction = std::make_shared<Prediction>();
  prediction->document = std::move(document);
  const auto step = static_cast<int64_t>(std::llround(prediction->document.step_seconds * 1e6));
  prediction->plan = std::make_shared<const workbench::StepPlan>(prediction->document);
  prediction->moduleSeconds = moduleTimes(prediction->document.timelines);
  for (plan::RankTimeline& rank : prediction->document.timelines)
    prediction->timelines.push_back(
        std::make_shared<const Timeline>(std::exchange(rank.spans, {}), step));
  return prediction;
}

}  // namespace heddle::gui
