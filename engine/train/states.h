// The tensors of a rank that live across steps: shards, moments, sums, the RoPE table.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/checkpoint/hugging_face.h"
#include "engine/recipe/recipe.h"
#include "engine/runtime/executor.h"
#include "engine/train/step.h"

namespace heddle::train {

/// Fills this rank's shards, by name, with the starting weights: those of the recipe's checkpoint
/// (a Hugging Face folder), else the init by seed. Other states keep their zeros. Never holds more
/// than a shard.
Result<> load_weights(const recipe::Recipe& recipe, int64_t rank,
                      const runtime::NamedTensors& states);

/// Writes the weights as a Hugging Face folder (on rank 0; the others only take part in the
/// gathers).
Result<> save_weights(const recipe::Recipe& recipe, int64_t rank,
                      const runtime::NamedTensors& states, const std::string& folder);

/// The rows of all ranks of a group, on each of them: the first `rows`.
at::Tensor gathered(const at::Tensor& mine, int64_t rows, const parallel::Group& group);

/// The whole of a parameter, or of something of its shape, on every rank, from the shards called
/// `name`; a rank of another pipeline stage has none.
at::Tensor whole(const checkpoint::Parameter& parameter, const runtime::NamedTensors& shards,
                 const std::string& name, const StepSettings& settings);

}  // namespace heddle::train
