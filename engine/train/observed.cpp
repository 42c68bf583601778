#include "engine/train/observed.h"

#include <algorithm>
#include <cmath>

#include "engine/cost/weighted_median.h"
#include "engine/cost/work_kind.h"
#include "engine/recipe/stage_groups.h"

namespace heddle::train {
namespace {

using telemetry::Span;

cost::Rates unrefined(cost::Rates rates) {
  rates.refinement = {};
  return rates;
}

// When a stream was busy.
class Busy {
 public:
  Busy(const std::vector<Span>& spans, uint8_t stream) {
    std::vector<std::pair<int64_t, int64_t>> all;
    for (const Span& span : spans)
      if (span.stream == stream && telemetry::has_sound_times(span))
        all.emplace_back(span.start_us, span.start_us + span.duration_us);
    std::ranges::sort(all);
    for (const auto& [begin, end] : all) {
      if (!joined_.empty() && begin <= joined_.back().second)
        joined_.back().second = std::max(joined_.back().second, end);
      else
        joined_.emplace_back(begin, end);
    }
  }

  // The share of a span that it was.
  double share(const Span& span) const {
    if (span.duration_us == 0) return 0;
    const int64_t begin = span.start_us, end = begin + span.duration_us;
    auto each = std::ranges::lower_bound(joined_, begin, {}, &std::pair<int64_t, int64_t>::second);
    int64_t busy = 0;
    for (; each != joined_.end() && each->first < end; ++each)
      busy += std::min(end, each->second) - std::max(begin, each->first);
    return static_cast<double>(busy) / static_cast<double>(span.duration_us);
  }

 private:
  std::vector<std::pair<int64_t, int64_t>> joined_;
};

}  // namespace

Observed::Observed(const graph::Graph& graph, const cost::Rates& rates)
    : graph_(graph), cost_(unrefined(rates)), on_gpu_(rates.device.has_value()) {}

void Observed::add(const std::vector<Span>& step) {
  constexpr double kBeside = 0.1;
  const Busy computes(step, telemetry::kCompute), transfers(step, telemetry::kTransfer);
  for (const Span& span : step) {
    if (span.stream > telemetry::kTransfer || !telemetry::has_sound_times(span)) continue;
    if (span.node < 0 || static_cast<size_t>(span.node) >= graph_.nodes.size()) continue;
    const graph::Node& node = graph_.nodes[static_cast<size_t>(span.node)];
    std::string name;
    double predicted = 0;
    if (graph::is_collective(node)) {
      // A GPU's marks do not tell the wait for another stage from its transfer.
      if (on_gpu_ && recipe::joins_stages(graph::group_of(node))) continue;
      name = cost::work_name(cost::work_kind(graph_, node), cost_.link(graph::group_of(node)));
      const cost::Duration transfer = cost_.transfer(graph_, node);
      predicted = std::lerp(transfer.alone, transfer.beside_compute, computes.share(span));
    } else if (!graph::is_view(node) && transfers.share(span) < kBeside) {
      name = cost::work_name(cost::work_kind(graph_, node));
      predicted = cost_.seconds(graph_, node);
    }
    if (predicted <= 0) continue;
    seen_[name].emplace_back(static_cast<double>(span.duration_us) * 1e-6 / predicted, predicted);
  }
}

cost::WorkRatios Observed::ratios() const {
  constexpr size_t kEnough = 8;
  cost::WorkRatios ratios;
  for (const auto& [name, spans] : seen_)
    if (spans.size() >= kEnough) ratios[name] = cost::weighted_median(spans);
  return ratios;
}

}  // namespace heddle::train
