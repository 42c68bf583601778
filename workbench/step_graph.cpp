#include "workbench/step_graph.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>

namespace heddle::workbench {
namespace {

using telemetry::Span;

constexpr int64_t kTouch = 1;  // microseconds that clocks round off

int64_t length_of(const Span& span) { return std::max<int64_t>(span.duration_us, 0); }

const Span& span_of(const std::vector<RankStep>& steps, const Meeting::Member& member) {
  return (*steps[static_cast<size_t>(member.step)].spans)[static_cast<size_t>(member.span)];
}

/// A collective begins on all its ranks at once: that tells how far apart their clocks are, however
/// they have been set. A rank that meets nobody keeps its own.
std::vector<int64_t> shifts_of(const std::vector<RankStep>& steps,
                               const std::vector<Meeting>& meetings) {
  std::vector<std::optional<int64_t>> known(steps.size());
  for (size_t first = 0; first < steps.size(); ++first) {
    if (known[first]) continue;
    known[first] = 0;
    for (bool more = true; more;) {
      std::vector<std::vector<int64_t>> apart(steps.size());
      for (const Meeting& meeting : meetings) {
        const auto sure = std::ranges::find_if(meeting.members, [&](const auto& member) {
          return known[static_cast<size_t>(member.step)].has_value();
        });
        if (sure == meeting.members.end()) continue;
        const int64_t at = span_of(steps, *sure).start_us + *known[static_cast<size_t>(sure->step)];
        for (const Meeting::Member& member : meeting.members)
          if (!known[static_cast<size_t>(member.step)])
            apart[static_cast<size_t>(member.step)].push_back(at - span_of(steps, member).start_us);
      }
      more = false;
      for (size_t step = 0; step < steps.size(); ++step) {
        auto& all = apart[step];
        if (all.empty()) continue;
        const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
        std::nth_element(all.begin(), middle, all.end());
        known[step] = *middle;
        more = true;
      }
    }
  }
  std::vector<int64_t> shifts;
  for (const auto& shift : known) shifts.push_back(*shift);
  return shifts;
}

class Builder {
 public:
  Builder(const std::vector<RankStep>& steps, const StepPlan* plan) : steps_(steps), plan_(plan) {}

  StepGraph build() {
    const std::vector<Meeting> meetings = meetings_of(steps_, plan_);
    graph_.shift = shifts_of(steps_, meetings);
    number_.resize(steps_.size());
    for (size_t step = 0; step < steps_.size(); ++step) add_spans(step);
    for (const Meeting& meeting : meetings) add_meeting(meeting);
    for (size_t step = 0; step < steps_.size(); ++step) add_waits(step);
    sort();
    return std::move(graph_);
  }

 private:
  struct Lane {
    std::vector<size_t> spans;  // indices into the rank's spans
    std::vector<int64_t> ends;  // the latest of these so far
  };

  int32_t name_of(size_t step, const Span& span) {
    std::string name = span.name;
    if (span.stream == telemetry::kTransfer && plan_)
      if (const plan::Transfer* transfer = plan_->transfer(steps_[step].rank, span.node))
        name += " over " + transfer->group;
    const auto [known, added] = names_.try_emplace(name, static_cast<int32_t>(graph_.names.size()));
    if (added) graph_.names.push_back(name);
    return known->second;
  }

  void add_spans(size_t step) {
    const auto& spans = *steps_[step].spans;
    number_[step].assign(spans.size(), -1);
    compute_.emplace_back();
    int64_t before = -1;
    for (size_t i = 0; i < spans.size(); ++i) {
      if (spans[i].stream > telemetry::kTransfer) continue;  // a wait is no work
      number_[step][i] = static_cast<int64_t>(nodes_.size());
      nodes_.push_back({.step = static_cast<int32_t>(step),
                        .span = static_cast<int64_t>(i),
                        .name = name_of(step, spans[i]),
                        .start = spans[i].start_us + graph_.shift[step],
                        .duration = length_of(spans[i])});
      needs_.emplace_back();
      if (spans[i].stream != telemetry::kCompute) continue;
      if (before >= 0) need(number_[step][i], before);
      before = number_[step][i];
      compute_[step].spans.push_back(i);
      compute_[step].ends.push_back(
          std::max(spans[i].start_us + length_of(spans[i]),
                   compute_[step].ends.empty() ? INT64_MIN : compute_[step].ends.back()));
    }
  }

  /// The last compute before the rank begins the transfer: by the plan's order, or by the clock,
  /// where it may still run: the transfer then begins that much before its end.
  int64_t order_of(size_t step, const Span& transfer) const {
    const auto& spans = *steps_[step].spans;
    const Lane& lane = compute_[step];
    for (auto at = static_cast<std::ptrdiff_t>(
             std::ranges::upper_bound(lane.spans, transfer.start_us + kTouch, {},
                                      [&](size_t i) { return spans[i].start_us; }) -
             lane.spans.begin());
         at > 0; --at) {
      const Span& compute = spans[lane.spans[static_cast<size_t>(at) - 1]];
      const bool is_before = transfer.node >= 0 && compute.node >= 0
                                 ? compute.node < transfer.node
                                 : compute.start_us < transfer.start_us;
      if (is_before) return number_[step][lane.spans[static_cast<size_t>(at) - 1]];
    }
    return -1;
  }

  void add_meeting(const Meeting& meeting) {
    const auto number = static_cast<int64_t>(nodes_.size());
    nodes_.push_back({});
    needs_.emplace_back();
    int64_t start = INT64_MIN;
    for (const Meeting::Member& member : meeting.members) {
      const auto step = static_cast<size_t>(member.step);
      const Span& span = span_of(steps_, member);
      start = std::max(start, span.start_us + graph_.shift[step]);
      if (const int64_t before = order_of(step, span); before >= 0) need(number, before);
      if (const int64_t before = wire_before(step, static_cast<size_t>(member.span)); before >= 0)
        need(number, before);
      need(number_[step][static_cast<size_t>(member.span)], number);
    }
    nodes_.back().start = start;
  }

  /// The transfer that has ended last when this one begins.
  int64_t wire_before(size_t step, size_t transfer) const {
    const auto& spans = *steps_[step].spans;
    for (size_t i = transfer; i-- > 0;) {
      if (spans[i].stream != telemetry::kTransfer) continue;
      const bool ended =
          spans[i].start_us + length_of(spans[i]) <= spans[transfer].start_us + kTouch;
      return ended ? number_[step][i] : -1;
    }
    return -1;
  }

  /// Compute that a transfer holds up.
  void add_waits(size_t step) {
    const auto& spans = *steps_[step].spans;
    const Lane& lane = compute_[step];
    for (size_t i = 0; i < spans.size(); ++i) {
      if (spans[i].stream != telemetry::kTransfer) continue;
      const plan::Transfer* planned =
          plan_ ? plan_->transfer(steps_[step].rank, spans[i].node) : nullptr;
      const int64_t end = spans[i].start_us + length_of(spans[i]);
      if (planned && planned->wait < 0) continue;
      // By the plan the first node after the wait; by the clock the first one that began after the
      // transfer's end, if nothing was computed when it ended.
      const auto after = std::ranges::partition_point(lane.spans, [&](size_t c) {
        return planned ? spans[c].node <= planned->wait : spans[c].start_us + kTouch < end;
      });
      if (after == lane.spans.end()) continue;
      const auto index = static_cast<size_t>(after - lane.spans.begin());
      if (!planned && index > 0 && lane.ends[index - 1] >= end) continue;
      need(number_[step][*after], number_[step][i]);
    }
  }

  void need(int64_t node, int64_t needed) {
    needs_[static_cast<size_t>(node)].push_back(static_cast<uint32_t>(needed));
  }

  /// In the order of the clock; what would be needed later than it is there was measured wrong.
  void sort() {
    std::vector<uint32_t> order(nodes_.size());
    std::iota(order.begin(), order.end(), 0);
    std::vector<int64_t> at(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      at[i] = nodes_[i].start;
      // A transfer that its clock has begin before the meeting comes after it all the same.
      if (nodes_[i].step >= 0 && is_transfer(nodes_[i]))
        for (const uint32_t meeting : needs_[i]) at[i] = std::max(at[i], nodes_[meeting].start);
    }
    const auto rank = [&](uint32_t i) {
      return nodes_[i].step < 0 ? 1 : is_transfer(nodes_[i]) ? 2 : 0;
    };
    std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) {
      return at[a] != at[b] ? at[a] < at[b] : rank(a) < rank(b);
    });
    std::vector<uint32_t> place(nodes_.size());
    for (size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<uint32_t>(i);
    graph_.nodes.reserve(nodes_.size());
    for (const uint32_t from : order) {
      StepNode node = nodes_[from];
      node.first_need = static_cast<uint32_t>(graph_.needs.size());
      int64_t ready = 0;
      for (const uint32_t needed : needs_[from]) {
        if (place[needed] >= place[from]) continue;
        graph_.needs.push_back(place[needed]);
        const int64_t end = nodes_[needed].start + nodes_[needed].duration;
        ready = node.needs++ == 0 ? end : std::max(ready, end);
      }
      node.lag = node.start - ready;
      graph_.nodes.push_back(node);
    }
  }

  bool is_transfer(const StepNode& node) const {
    return (*steps_[static_cast<size_t>(node.step)].spans)[static_cast<size_t>(node.span)].stream ==
           telemetry::kTransfer;
  }

  const std::vector<RankStep>& steps_;
  const StepPlan* plan_;
  StepGraph graph_;
  std::vector<StepNode> nodes_;
  std::vector<std::vector<uint32_t>> needs_;
  std::vector<std::vector<int64_t>> number_;  // by step and span
  std::vector<Lane> compute_;                 // by step
  std::unordered_map<std::string, int32_t> names_;
};

}  // namespace

StepGraph step_graph(const std::vector<RankStep>& steps, const StepPlan* plan) {
  return Builder(steps, plan).build();
}

}  // namespace heddle::workbench
