#include "workbench/time_spent.h"

#include <algorithm>
#include <set>
#include <utility>

namespace heddle::workbench {
namespace {

using telemetry::Span;

struct Edge {
  int64_t time;
  bool begins;
  int32_t span;
};

// Stream and part of what counts, the first one first.
constexpr std::array<std::pair<uint8_t, Part>, 4> kOrder = {{{telemetry::kCompute, Part::compute},
                                                             {telemetry::kTransfer, Part::exposed},
                                                             {telemetry::kBubble, Part::bubble},
                                                             {telemetry::kWait, Part::exposed}}};

std::vector<Edge> edges_of(const std::vector<Span>& spans, int64_t step_us) {
  std::vector<Edge> edges;
  edges.reserve(spans.size() * 2);
  for (size_t i = 0; i < spans.size(); ++i) {
    const int64_t begin = std::clamp<int64_t>(spans[i].start_us, 0, step_us);
    const int64_t end = std::clamp<int64_t>(spans[i].start_us + spans[i].duration_us, 0, step_us);
    if (end <= begin || spans[i].stream >= kOrder.size()) continue;
    edges.push_back({begin, true, static_cast<int32_t>(i)});
    edges.push_back({end, false, static_cast<int32_t>(i)});
  }
  std::sort(edges.begin(), edges.end(),
            [](const Edge& a, const Edge& b) { return a.time < b.time; });
  return edges;
}

}  // namespace

std::vector<Stretch> stretches_of(const std::vector<Span>& spans, int64_t step_us) {
  std::vector<Stretch> stretches;
  // Spans under way, by stream: (begin, span), the earliest first.
  std::array<std::set<std::pair<int64_t, int32_t>>, kOrder.size()> under_way;
  int64_t now = 0;
  const auto go_on_to = [&](int64_t time) {
    if (time <= now) return;
    Stretch next{now, time, Part::idle, -1};
    for (const auto& [stream, part] : kOrder)
      if (!under_way[stream].empty()) {
        next.part = part;
        next.span = under_way[stream].begin()->second;
        break;
      }
    if (!stretches.empty() && stretches.back().part == next.part &&
        stretches.back().span == next.span)
      stretches.back().end = time;
    else
      stretches.push_back(next);
    now = time;
  };
  for (const Edge& edge : edges_of(spans, step_us)) {
    go_on_to(edge.time);
    const Span& span = spans[static_cast<size_t>(edge.span)];
    const std::pair<int64_t, int32_t> entry{span.start_us, edge.span};
    if (edge.begins)
      under_way[span.stream].insert(entry);
    else
      under_way[span.stream].erase(entry);
  }
  go_on_to(step_us);
  return stretches;
}

}  // namespace heddle::workbench
