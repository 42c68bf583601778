#include "engine/runtime/timeline.h"

#include <algorithm>
#include <array>

namespace heddle::runtime {

std::vector<telemetry::Span> Timeline::take() {
  std::stable_sort(spans_.begin(), spans_.end(),
                   [](const auto& a, const auto& b) { return a.start_us < b.start_us; });
  return std::move(spans_);
}

Unhidden unhidden(const std::vector<telemetry::Span>& spans) {
  // A sweep over the ends of spans, with the number under way by stream.
  struct Edge {
    int64_t at;
    uint8_t stream;
    int change;
  };
  std::vector<Edge> edges;
  for (const telemetry::Span& span : spans) {
    edges.push_back({span.start_us, span.stream, 1});
    edges.push_back({span.start_us + span.duration_us, span.stream, -1});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
  std::array<int, telemetry::kBubble + 1> under_way{};
  int64_t exposed = 0, bubble = 0, before = 0;
  for (const Edge& edge : edges) {
    const int64_t time = edge.at - before;
    if (under_way[telemetry::kCompute] == 0) {
      if (under_way[telemetry::kTransfer] > 0)
        exposed += time;
      else if (under_way[telemetry::kBubble] > 0)
        bubble += time;
      else if (under_way[telemetry::kWait] > 0)
        exposed += time;
    }
    before = edge.at;
    under_way[edge.stream] += edge.change;
  }
  return {static_cast<double>(exposed) * 1e-6, static_cast<double>(bubble) * 1e-6};
}

}  // namespace heddle::runtime
