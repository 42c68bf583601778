// The tensors of a rank that live across steps: shards, moments, sums, the RoPE table.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/model/parameter.h"
#include "engine/recipe/recipe.h"
#include "engine/runtime/executor.h"

namespace heddle::train {

/// Fills this rank's shards, by name, with the starting weights: those of the recipe's checkpoint
/// (a Hugging Face folder), else the init by seed. Other states keep their zeros. Never holds more
/// than a shard.
Result<> load_weights(const recipe::Recipe& recipe, int64_t rank,
                      const runtime::NamedTensors& states);

/// Writes the weights as a Hugging Face folder (on rank 0; the others only take part in the
/// gathers).
Result<> save_weights(const recipe::Recipe& recipe, const model::Sharding& sharding, int64_t rank,
                      const runtime::NamedTensors& states, const std::string& folder);

/// A shard's whole parameter on every rank: [rows, …].
at::Tensor gathered(const at::Tensor& shard, int64_t rows, const model::Sharding& sharding);

}  // namespace heddle::train
