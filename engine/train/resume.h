// Where a run begins: at its newest whole checkpoint, else at its parent run's, else at its
// starting weights.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/recipe/recipe.h"
#include "engine/runtime/executor.h"
#include "engine/train/checkpoint_place.h"

namespace heddle::train {

struct Beginning {
  int64_t step = 0;                   // steps done
  int64_t samples = 0;                // samples read
  int64_t since = 0;                  // the first of them that is of the recipe's texts
  std::vector<std::string> warnings;  // what was damaged, and what has become of it
  std::string note;                   // where it goes on, and what has changed in the recipe
};

/// Fills the states. A checkpoint that is damaged, or that a host lacks, is set aside and the one
/// before is taken; where none is left, or one is of another model or a newer format, that is an
/// error. Those of another run (launch.json's begin_with) are left as they are. Every rank calls
/// this.
Result<Beginning> begin(const recipe::Recipe& recipe, const runs::RankContext& context,
                        const std::optional<CheckpointPlace>& place,
                        const runtime::NamedTensors& states);

}  // namespace heddle::train
