// Pipeline ranks that are planned alike, and the layers of one by the names of another's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/passes/pipeline.h"
#include "engine/recipe/layout.h"

namespace heddle::predict {

/// Everything that the plan of a pipeline rank depends on, layers being counted from the first of
/// their stage: how many each stage has, the ends of the model, which modules share a bucket, and
/// how each is recomputed. Where a bucket reaches beyond the rank, its other modules are by their
/// own names. Ranks with the same text have the same plan, but for the numbers of layers.
std::string planning_key(const recipe::Layout& layout, const passes::PlanOptions& options,
                         int64_t pipeline_rank);

class LikeLayers {
 public:
  /// `layers`: of each stage; a rank's stages are `pp` apart. Both ranks have as many in each.
  LikeLayers(const std::vector<int64_t>& layers, int64_t pp, int64_t from, int64_t to);

  /// Turns words about layers.1 and layers.2 into "all_gather layers.9+layers.10 (backward)", and
  /// "layers.1-2" into "layers.9-10".
  std::string renamed(std::string_view text) const;

 private:
  std::unordered_map<int64_t, int64_t> to_;  // numbers of layers
};

}  // namespace heddle::predict
