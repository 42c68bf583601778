// The stages of a pipeline: which layers are where.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/recipe/recipe.h"

namespace heddle::recipe {

/// Layers of each stage, as written or balanced: embedding and output count as a layer each, so
/// that the first and the last stage have fewer. A rank has stages rank, rank + pp, …: two of them
/// where the schedule is interleaved and there are layers enough, else one. Of a resolved recipe.
std::vector<int64_t> layers_of_stages(const Recipe& recipe);

}  // namespace heddle::recipe
