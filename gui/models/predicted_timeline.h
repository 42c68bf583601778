// The timelines that a run's steps were predicted to have.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gui/timeline/timeline_data.h"
#include "storage/queries.h"

namespace heddle::gui {

/// Of a rank that stands for all of its pipeline stage.
struct PredictedTimeline {
  int64_t rank = 0;
  std::shared_ptr<const Timeline> timeline;
};

/// As the run's log has them; none where nothing was predicted, or what is there cannot be read.
Result<std::vector<PredictedTimeline>> readPredicted(storage::Reader& reader, storage::RunId run);

}  // namespace heddle::gui
