// The largest differences between two steps, in words.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/number_text.h"
#include "workbench/step_alignment.h"

namespace heddle::workbench {
namespace {

constexpr int64_t kMinShare = 100;  // of the longer step: a hundredth

struct Candidate {
  Grouping grouping;
  const Row* row;
  Part part;
  int64_t difference;
};

/// One side's share of a part.
std::string has(const Spent& spent, int64_t spans, Part part) {
  const int64_t us = spent[part];
  if (us == 0 && part == Part::exposed) return spans > 0 ? "hidden" : "not there";
  if (us == 0) return "none";
  const std::string time = seconds_text(static_cast<double>(us) * 1e-6);
  switch (part) {
    case Part::compute:
      return time + " of compute";
    case Part::exposed:
      return time + " exposed";
    case Part::bubble:
      return time + " of bubble";
    case Part::idle:
      return time + (spans > 0 ? " of waiting for other ranks" : " idle");
  }
  return time;
}

}  // namespace

std::vector<Surprise> surprises(const Alignment& alignment, const Side& left, const Side& right,
                                size_t most) {
  std::vector<Candidate> candidates;
  const int64_t least = std::max(left.step_us, right.step_us) / kMinShare;
  const auto consider = [&](Grouping grouping, const Row& row, Part part) {
    const int64_t difference = (row.right - row.left)[part];
    if (std::abs(difference) > least) candidates.push_back({grouping, &row, part, difference});
  };
  // Compute is off by a little in many nodes: the text sums it by phase.
  for (const Row& row : alignment.by(Grouping::phase))
    consider(Grouping::phase, row, Part::compute);
  for (const Row& row : alignment.by(Grouping::node))
    for (const Part part : {Part::exposed, Part::bubble, Part::idle})
      consider(Grouping::node, row, part);
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) {
                     return std::abs(a.difference) > std::abs(b.difference);
                   });
  std::vector<Surprise> surprises;
  for (const Candidate& each : candidates) {
    if (surprises.size() == most) break;
    const Row& row = *each.row;
    surprises.push_back(
        {each.grouping, row.name, each.difference,
         fmt::format("{}: {} in {}, {} in {}", row.name, has(row.right, row.right_spans, each.part),
                     right.name, has(row.left, row.left_spans, each.part), left.name)});
  }
  return surprises;
}

}  // namespace heddle::workbench
