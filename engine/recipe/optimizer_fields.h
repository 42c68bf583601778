// The keys of [optimizer]: the ones that all optimizers have, and each one's own from engine/optim.
#pragma once

#include <vector>

#include "engine/recipe/schema.h"

namespace heddle::recipe {

std::vector<Field> optimizer_fields();

}  // namespace heddle::recipe
