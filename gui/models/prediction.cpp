#include "gui/models/prediction.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "gui/models/module_times.h"

namespace heddle::gui {

std::shared_ptr<const Prediction> readPrediction(const nlohmann::json& plan) {
  auto prediction = std::make_shared<Prediction>();
  prediction->document = plan::from_json(plan);
  const auto step = static_cast<int64_t>(std::llround(prediction->document.step_seconds * 1e6));
  prediction->moduleSeconds = moduleTimes(prediction->document.timelines);
  for (plan::RankTimeline& rank : prediction->document.timelines)
    prediction->timelines.push_back(
        std::make_shared<const Timeline>(std::exchange(rank.spans, {}), step));
  return prediction;
}

}  // namespace heddle::gui
