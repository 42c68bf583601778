// Validation's inputs: held-out text, and the prompt of samples.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "engine/data/text_loader.h"
#include "engine/data/tokenizer.h"
#include "engine/recipe/recipe.h"

namespace heddle::inputs {

/// The recipe of a validation batch: one micro-batch of each data-parallel rank.
recipe::Recipe validation_recipe(const recipe::Recipe& recipe);

struct HeldOut {
  data::DataLoader loader;                   // of the validation recipe
  std::optional<data::Tokenizer> tokenizer;  // none: no samples are asked for
  std::vector<int32_t> prompt;
};

/// For a recipe that validates. Errors begin with the recipe key that they are about.
Result<HeldOut> read_held_out(const recipe::Recipe& recipe);

}  // namespace heddle::inputs
