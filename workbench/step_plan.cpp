#include "workbench/step_plan.h"

#include <algorithm>

namespace heddle::workbench {

StepPlan::StepPlan(const plan::Document& document, recipe::Layout layout, bool numbered)
    : buckets_(document.buckets), layout_(std::move(layout)) {
  if (!numbered) return;
  for (const plan::RankTimeline& timeline : document.timelines)
    if (!timeline.transfers.empty()) transfers_[timeline.rank] = timeline.transfers;
}

const plan::Transfer* StepPlan::transfer(int64_t rank, int32_t node) const {
  // Ranks of a stage follow one another.
  const auto after = transfers_.upper_bound(rank);
  if (after == transfers_.begin()) return nullptr;
  const std::vector<plan::Transfer>& of = std::prev(after)->second;
  const auto found = std::ranges::lower_bound(of, node, {}, &plan::Transfer::node);
  return found != of.end() && found->node == node ? &*found : nullptr;
}

std::vector<int> StepPlan::members(int64_t rank, const std::string& group) const {
  const recipe::Group* found = layout_.group(group);
  return found ? layout_.members(rank, *found) : std::vector<int>();
}

}  // namespace heddle::workbench
