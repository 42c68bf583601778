// The inputs of a step as tensors.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/data/text_loader.h"
#include "engine/model/llama.h"
#include "engine/recipe/layout.h"
#include "engine/recipe/recipe.h"
#include "engine/runtime/executor.h"

namespace heddle::step {

struct Feed {
  std::vector<runtime::NamedTensors> micro_batches;  // what differs between micro-batches
  runtime::NamedTensors step;  // what does not; token_count, lr, step and asked too
};

/// The inputs of the model and their sizes, all int64. Which there are depends on the layout.
std::map<std::string, std::vector<int64_t>> batch_inputs(const recipe::Recipe& recipe);

/// A batch of whole sequences, as a rank reads it; on the CPU, as all that follows.
runtime::NamedTensors batch_tensors(const recipe::Recipe& recipe, const recipe::Layout& layout,
                                    data::Batch batch, int64_t rank);
/// A rank's other inputs in a step: token_count, lr, step, asked (nothing), and its place.
runtime::NamedTensors step_tensors(const recipe::Recipe& recipe, const recipe::Layout& layout,
                                   int64_t step, int64_t rank);

/// Step `step` (0-based) of rank `rank`. Waits for tokens that are not there yet.
Result<Feed> make_feed(const recipe::Recipe& recipe, const recipe::Layout& layout,
                       const data::DataLoader& loader, int64_t step, int64_t rank);

/// The model's inputs, by name.
model::Batch batch_of(const runtime::NamedTensors& tensors);

}  // namespace heddle::step
