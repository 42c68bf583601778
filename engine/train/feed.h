// The inputs of a step as tensors.
#pragma once

#include <vector>

#include "engine/data/text_loader.h"
#include "engine/recipe/recipe.h"
#include "engine/runtime/executor.h"

namespace heddle::train {

struct Feed {
  std::vector<runtime::NamedTensors> micro_batches;  // tokens, labels, positions: int64 [B, S]
  runtime::NamedTensors step;                        // token_count, lr, step: no dimension
};

/// Step `step` (0-based) of data-parallel rank `rank`, batches on `device`; numbers stay on the
/// CPU, from where operators of any device take them.
Feed make_feed(const recipe::Recipe& recipe, const data::DataLoader& loader, int64_t step,
               int64_t rank, c10::Device device);

}  // namespace heddle::train
