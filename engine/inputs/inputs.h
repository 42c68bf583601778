// From a recipe's file to all that training reads: the recipe made final, and its data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/data/text_loader.h"
#include "engine/inputs/held_out.h"
#include "engine/recipe/parse.h"

namespace heddle::inputs {

struct Inputs {
  recipe::Recipe recipe;  // resolved, with the vocabulary's size
  data::DataLoader loader;
  std::optional<HeldOut> held_out;    // where the recipe validates
  std::vector<std::string> warnings;  // about its texts, as sentences
};

/// Loads a recipe (checkpoint::load_recipe_file), and opens its tokenizer, texts and checkpoint.
/// The error holds a line a fault. `begins_tokens`: makes the first tokens of texts that nobody has
/// tokenized yet, so that faults of the texts are reported at once; else another process makes
/// them.
Result<Inputs> read_inputs(const std::string& path, int64_t ranks, bool begins_tokens,
                           const std::vector<std::string>& sets = {});

}  // namespace heddle::inputs
