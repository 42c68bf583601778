// A planned layout with the memory that it leaves spent on keeping what it recomputes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/search/estimate.h"
#include "engine/search/space.h"

namespace heddle::search {

/// The layout with the least recomputation, layer by layer, that what it leaves of `limit` allows:
/// `share` of that is spent. `stage_bytes`: what it was planned to need, by pipeline rank. Nothing
/// where no layer changes, or what is fixed forbids it.
std::optional<Choice> mixed_recomputation(const Question& question, const Choice& planned,
                                          const std::vector<int64_t>& stage_bytes, int64_t limit,
                                          double share, Estimator& estimator);

}  // namespace heddle::search
