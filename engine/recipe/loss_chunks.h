// In how many chunks of tokens logits and loss are made.
#pragma once

#include "engine/recipe/recipe.h"
#include "engine/recipe/resolve.h"

namespace heddle::recipe {

/// Chunks of a rank's micro-batch, each with equally many tokens: `training.loss_chunks`, or where
/// it is 0 as few as keep a chunk's logits within 512 MiB. 1, where that is 0, for logits that
/// tensor parallelism cuts already, for products in 8 bits, for tokens that do not divide so, and
/// while the vocabulary is not known.
int64_t loss_chunks(const Recipe& recipe);

/// Whether what the recipe asks for can be. After the mesh's checks.
void check_loss_chunks(const Recipe& recipe, Checks& checks);

}  // namespace heddle::recipe
