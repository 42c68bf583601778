// The process groups that a recipe's step has, each of more than one rank.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "engine/recipe/mesh.h"
#include "engine/recipe/recipe.h"

namespace heddle::cost {

struct Group {
  recipe::Dims dims = 0;  // along which its ranks lie
  /// Of a pipeline's two ranks that have these stages, where it is not all ranks along `dims`.
  std::optional<std::pair<int64_t, int64_t>> stages;
};

/// By name, of a resolved recipe.
std::map<std::string, Group> groups_of(const recipe::Recipe& recipe);

}  // namespace heddle::cost
