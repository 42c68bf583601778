// The memory that a rank of a recipe needs, by formula: no capture and no LibTorch, so that anyone
// can ask before anything is started. The planner knows it exactly (passes/memory.h);
// this is for the question whether it fits at all. Within 20 % of the plan for the recipes of its
// test.
#pragma once

#include <cstdint>

#include "engine/recipe/recipe.h"

namespace heddle::holdings {

/// A CPU rank before it has a model: the process's own memory, and the code of the libraries, which
/// all ranks of a host share (LibTorch 2.11, x86-64).
inline constexpr int64_t kOwnBytes = 80'000'000;
inline constexpr int64_t kSharedBytes = 135'000'000;

/// Bytes of the rank that holds most.
struct Needs {
  int64_t states = 0;       // shards of parameters, the optimizer's states, sums of gradients
  int64_t gathered = 0;     // parameters and gradients that are whole at one time
  int64_t activations = 0;  // what forward leaves for backward, and the logits
  int64_t staging = 0;      // the copy that checkpoints are written from, in the host's memory

  /// On the device that computes.
  int64_t on_device() const { return states + gathered + activations; }
};

/// `recipe`: resolved, with the vocabulary's size.
Needs needs_of(const recipe::Recipe& recipe);

}  // namespace heddle::holdings
