// How much room a run's checkpoints take.
#pragma once

#include <cstdint>

#include "engine/recipe/modules.h"

namespace heddle::checkpoint {

/// Bytes of one checkpoint, all ranks' files together: weights and both of the optimizer's moments,
/// fp32, each once. The model's vocabulary must be known.
inline int64_t bytes_of_checkpoint(const recipe::Model& model) {
  return 3 * static_cast<int64_t>(sizeof(float)) * recipe::parameter_count(model);
}

/// Bytes at most at any time: those that are kept, and one that is being written. A run that saves
/// only at its end keeps one.
inline int64_t bytes_of_checkpoints(const recipe::Recipe& recipe) {
  if (!recipe.checkpoint.enabled) return 0;
  const int64_t every = recipe.checkpoint.every;
  const int64_t saved = every > 0 ? recipe.training.steps / every : 1;
  const int64_t kept = saved > recipe.checkpoint.keep ? recipe.checkpoint.keep + 1 : saved;
  return (kept > 0 ? kept : 1) * bytes_of_checkpoint(recipe.model);
}

}  // namespace heddle::checkpoint
