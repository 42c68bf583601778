// The Llama 3 family by name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/recipe/recipe.h"

namespace heddle::recipe {

/// The names of `model.preset`, smallest model first.
const std::vector<std::string>& preset_names();

/// The numbers of a preset (source: the Llama 3 paper and the published config.json files; rope
/// scaling is Llama 3.1's for 8b to 405b and Llama 3.2's for 1b and 3b). None for an unknown name.
std::optional<Model> preset(std::string_view name);

}  // namespace heddle::recipe
