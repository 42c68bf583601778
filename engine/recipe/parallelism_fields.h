// The keys of [parallelism].
#pragma once

#include <vector>

#include "engine/recipe/schema.h"

namespace heddle::recipe {

std::vector<Field> parallelism_fields();

}  // namespace heddle::recipe
