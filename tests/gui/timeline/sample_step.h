// A step for tests of the timeline.
#pragma once

#include <memory>

#include "gui/timeline/timeline_data.h"

namespace heddle::gui {

/// 100 ms: forward to 40, backward to 90, optimizer to 100; a gather that is hidden, a scatter from
/// 80 on whose last 5 ms (85 to 90) nothing hides.
inline std::shared_ptr<const Timeline> sampleStep() {
  std::vector<telemetry::Span> spans;
  for (int64_t i = 0; i < 4; ++i) {
    const auto module = "layers." + std::to_string(i) + ".attention.wq";
    spans.push_back({"mm", module, i * 10'000, 10'000, 0, 0});
  }
  spans.push_back({"mm_backward", "layers.3.feed_forward.w1", 40'000, 45'000, 0, 1});
  spans.push_back({"adamw", "layers.0", 90'000, 10'000, 0, 2});
  spans.push_back({"all_gather", "layers.1", 5'000, 4'000, 1, 0});
  spans.push_back({"reduce_scatter", "layers.0", 80'000, 10'000, 1, 1});
  return std::make_shared<Timeline>(std::move(spans));
}

}  // namespace heddle::gui
