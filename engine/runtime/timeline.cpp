#include "engine/runtime/timeline.h"

#include <algorithm>

namespace heddle::runtime {

std::vector<telemetry::Span> Timeline::take() {
  std::stable_sort(spans_.begin(), spans_.end(),
                   [](const auto& a, const auto& b) { return a.start_us < b.start_us; });
  return std::move(spans_);
}

double exposed_seconds(const std::vector<telemetry::Span>& spans) {
  // Sweep over the ends of spans: +1/-1 on each stream.
  struct Edge {
    int64_t at;
    int compute, communication;
  };
  std::vector<Edge> edges;
  for (const telemetry::Span& span : spans) {
    const int compute = span.stream == telemetry::kCompute ? 1 : 0, communication = 1 - compute;
    edges.push_back({span.start_us, compute, communication});
    edges.push_back({span.start_us + span.duration_us, -compute, -communication});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
  int64_t exposed = 0, before = 0;
  int compute = 0, communication = 0;
  for (const Edge& edge : edges) {
    if (communication > 0 && compute == 0) exposed += edge.at - before;
    before = edge.at;
    compute += edge.compute;
    communication += edge.communication;
  }
  return static_cast<double>(exposed) * 1e-6;
}

}  // namespace heddle::runtime
