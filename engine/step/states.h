// The tensors of a rank's states: made, filled, made whole.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/checkpoint/reader.h"
#include "engine/holdings/parameter.h"
#include "engine/holdings/state.h"
#include "engine/recipe/recipe.h"
#include "engine/runtime/executor.h"
#include "engine/step/step.h"

namespace heddle::step {

/// The type of a state's tensor; blocks are bytes.
c10::ScalarType dtype_of(holdings::Element element);

/// A state that checkpoints hold, with its tensor: [rows of its box and zeros after them, columns].
struct StoredState {
  holdings::State row;  // in the table
  at::Tensor tensor;

  const holdings::Part& part() const { return row.stored->part; }
};

/// This rank's, as far as `states` has them: a step that only evaluates keeps no optimizer's.
std::vector<StoredState> stored_states(const recipe::Recipe& recipe, int64_t rank,
                                       const runtime::NamedTensors& states);

/// Fills this rank's shards, by name, with the starting weights: model.checkpoint's, else the init
/// by seed. Other states become zero: a checkpoint that another rank could not load may be in them.
/// Never holds more than a shard.
Result<> load_weights(const recipe::Recipe& recipe, int64_t rank,
                      const runtime::NamedTensors& states);

/// Fills this rank's shards and the optimizer's states from a checkpoint of any layout.
Result<> load_checkpoint(const checkpoint::Checkpoint& source, const recipe::Recipe& recipe,
                         int64_t rank, const runtime::NamedTensors& states);

/// Fills what is neither loaded nor trained: the RoPE table.
void fill_tables(const recipe::Recipe& recipe, const runtime::NamedTensors& states);

/// The rows of all ranks of a group, on each of them: the first `rows`.
at::Tensor gathered(const at::Tensor& mine, int64_t rows, const parallel::Group& group);

/// The whole of a parameter, or of something of its shape, on every rank, from the shards called
/// `name`; a rank of another pipeline stage has none.
at::Tensor whole(const holdings::Parameter& parameter, const runtime::NamedTensors& shards,
                 const std::string& name, const StepSettings& settings);

}  // namespace heddle::step
