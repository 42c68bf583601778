// The bytes of a number.
#pragma once

#include <cstdint>

#include "engine/recipe/recipe.h"

namespace heddle::recipe {

inline int64_t bytes_of(Precision precision) { return precision == Precision::bf16 ? 2 : 4; }

}  // namespace heddle::recipe
