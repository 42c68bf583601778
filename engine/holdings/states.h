// The table of states.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/holdings/state.h"
#include "engine/recipe/layout.h"
#include "engine/recipe/recipe.h"

namespace heddle::holdings {

/// A rank's shard of a parameter.
State shard_of(const Parameter& parameter);

/// The optimizer's states for a parameter.
std::vector<State> optimizer_states(const recipe::Recipe& recipe, const Parameter& parameter);

/// The sum of a parameter's gradients over micro-batches: whole gradients, or this rank's shards
/// where each micro-batch reduces them.
State gradient_sum(const recipe::Recipe& recipe, const Parameter& parameter);

/// A parameter's states while training, in the order in which the step makes them: its shard, the
/// optimizer's, the sum of several micro-batches' gradients.
std::vector<State> states_of(const recipe::Recipe& recipe, const Parameter& parameter);

/// Bytes of optimizer states per parameter element, averaged over the model.
double optimizer_bytes_a_number(const recipe::Recipe& recipe);

/// A rank's share of the loss of the whole step.
State loss_sum();
/// A rank's share of a validation's loss.
State validation_loss_sum();
/// RoPE's cosines and sines.
State rope_table(const recipe::Recipe& recipe);

/// Everything that a rank holds while training: its parameters' states, then the whole step's.
std::vector<State> states_of(const recipe::Recipe& recipe, const recipe::Layout& layout,
                             int64_t rank);

}  // namespace heddle::holdings
