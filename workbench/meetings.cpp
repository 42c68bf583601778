#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "workbench/step_graph.h"

namespace heddle::workbench {
namespace {

using telemetry::Span;

/// Which collective a transfer is, the same text on all its ranks but for how many came before it.
std::string key_of(const RankStep& step, const Span& span, const StepPlan* plan) {
  if (const plan::Transfer* transfer = plan ? plan->transfer(step.rank, span.node) : nullptr) {
    const std::vector<int> members = plan->members(step.rank, transfer->group);
    if (!members.empty()) return fmt::format("{} {}", members.front(), transfer->group);
  }
  return fmt::format("{}\n{}\n{}", span.name, span.module, span.phase);
}

}  // namespace

// The ranks of a group begin its collectives in the same order: the how-manieth it is joins them.
std::vector<Meeting> meetings_of(const std::vector<RankStep>& steps, const StepPlan* plan) {
  std::unordered_map<std::string, std::vector<size_t>> by_key;
  std::vector<Meeting> meetings;
  for (size_t step = 0; step < steps.size(); ++step) {
    std::unordered_map<std::string, size_t> seen;
    const auto& spans = *steps[step].spans;
    for (size_t i = 0; i < spans.size(); ++i) {
      if (spans[i].stream != telemetry::kTransfer) continue;
      const std::string key = key_of(steps[step], spans[i], plan);
      const size_t ordinal = seen[key]++;
      std::vector<size_t>& known = by_key[key];
      if (ordinal == known.size()) {
        known.push_back(meetings.size());
        meetings.emplace_back();
      }
      meetings[known[ordinal]].members.push_back(
          {static_cast<int32_t>(step), static_cast<int64_t>(i)});
    }
  }
  return meetings;
}

}  // namespace heddle::workbench
