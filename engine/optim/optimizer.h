// An optimizer: the recipe's keys for it, the states that it keeps, how it updates a parameter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/optim/key.h"
#include "engine/optim/state.h"
#include "engine/optim/update.h"

namespace heddle::optim {

struct Optimizer {
  std::string name;       // "adamw", as a recipe names it
  std::string words;      // "AdamW", for people
  std::vector<Key> keys;  // besides lr and weight_decay, which every optimizer has

  /// The states of a parameter of this shape (a rank's shard).
  std::vector<State> (*states)(const std::vector<int64_t>& shape, const Settings& settings);

  void (*update)(Operators& operators, const Operands& operands, const Settings& settings);

  bool has(std::string_view key) const;
};

/// All optimizers, in the order in which forms offer them. Keys that share a name are one key.
const std::vector<Optimizer>& optimizers();

/// The optimizer of that name. Throws std::out_of_range if there is none.
const Optimizer& optimizer_of(std::string_view name);

}  // namespace heddle::optim
