#include "gui/models/predicted_timeline.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/plan/document.h"

namespace heddle::gui {

Result<std::vector<PredictedTimeline>> readPredicted(storage::Reader& reader, storage::RunId run) {
  const auto kept = reader.plan(run);
  if (!kept) return fail(kept);
  std::vector<PredictedTimeline> predicted;
  if (!*kept) return predicted;
  try {
    plan::Document document = plan::from_json(nlohmann::json::parse((*kept)->document));
    const auto step = static_cast<int64_t>(std::llround(document.step_seconds * 1e6));
    for (plan::RankTimeline& rank : document.timelines)
      predicted.push_back(
          {rank.rank, std::make_shared<const Timeline>(std::move(rank.spans), step)});
  } catch (const nlohmann::json::exception&) {
    predicted.clear();  // of another version
  }
  return predicted;
}

}  // namespace heddle::gui
