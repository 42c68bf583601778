// Which parameters are gathered together.
#pragma once

#include <string>
#include <vector>

#include "engine/recipe/modules.h"

namespace heddle::recipe {

struct Bucket {
  std::vector<std::string> names;     // as the recipe writes them: "layers.2-3"
  std::vector<std::string> modules;   // the same one by one; each includes all below it
  std::vector<Parameter> parameters;  // what they read, in forward's order; see `reads`
};

/// The buckets of a recipe's wrapping; of mode auto those that the plan begins with, a bucket a
/// layer. What manual buckets do not name is a bucket by itself; names of no module are left out.
std::vector<Bucket> buckets_of(const Recipe& recipe);

}  // namespace heddle::recipe
