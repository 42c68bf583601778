// Whether a run may go on in its folder of checkpoints.
#pragma once

#include "base/result.h"
#include "engine/recipe/recipe.h"

namespace heddle::inputs {

/// Whether the recipe's run may go on in checkpoint.folder: an error, which begins with the key, if
/// its newest checkpoint is of another model or a newer format. Damaged ones are left to
/// train::begin.
Result<> check_resumable(const recipe::Recipe& recipe);

}  // namespace heddle::inputs
