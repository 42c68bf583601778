#include "gui/models/prediction.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace heddle::gui {

std::shared_ptr<const Prediction> readPrediction(const nlohmann::json& plan) {
  auto prediction = std::make_shared<Prediction>();
  prediction->document = plan::from_json(plan);
  for (plan::RankTimeline& rank : prediction->document.timelines)
    prediction->timelines.push_back(
        std::make_shared<const Timeline>(std::exchange(rank.spans, {})));
  return prediction;
}

}  // namespace heddle::gui
