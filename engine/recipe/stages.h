// The stages of a pipeline: which layers are where.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/recipe/recipe.h"

namespace heddle::recipe {

/// Layers of each stage, by hand or balanced: embedding and output count as a layer each, so that
/// the first and the last stage have fewer. A rank has stages rank, rank + pp, …: two of them where
/// the schedule is interleaved and there are layers enough, else one. Of a resolved recipe.
std::vector<int64_t> layers_of_stages(const Recipe& recipe);

/// The stage of a module, given the layers of each; −1 for what belongs to the whole step.
int64_t stage_of(std::string_view module, const std::vector<int64_t>& layers);

}  // namespace heddle::recipe
