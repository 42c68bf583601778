// The keys of [nccl].
#pragma once

#include <vector>

#include "engine/recipe/schema.h"

namespace heddle::recipe {

std::vector<Field> nccl_fields();

}  // namespace heddle::recipe
