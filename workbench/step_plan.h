// A run's plan, looked up by the spans of its steps. Immutable once made.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/plan/document.h"
#include "engine/recipe/layout.h"
#include "workbench/bucket_names.h"

namespace heddle::workbench {

class StepPlan {
 public:
  StepPlan() = default;
  /// `layout` of no groups: nothing is known of which ranks are in one. `numbered` false: the
  /// spans' nodes are of another plan.
  explicit StepPlan(const plan::Document& document, recipe::Layout layout = {},
                    bool numbered = true);

  const BucketNames& buckets() const { return buckets_; }
  /// The collective that the rank's span with that node is of; nullptr: not known.
  const plan::Transfer* transfer(int64_t rank, int32_t node) const;
  bool knows_transfers() const { return !transfers_.empty(); }
  /// The ranks of the group of that name that `rank` is in, itself too; empty: not known.
  std::vector<int> members(int64_t rank, const std::string& group) const;

 private:
  BucketNames buckets_;
  recipe::Layout layout_;
  std::map<int64_t, std::vector<plan::Transfer>> transfers_;  // by the first rank of a stage
};

}  // namespace heddle::workbench
