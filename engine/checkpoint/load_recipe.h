// The one meaning of a recipe: from text, --set values and ranks to the recipe that is trained, the
// numbers of its model.checkpoint included. Reads that checkpoint's config.json or manifest, and
// where embeddings are tied whether the weights agree: not on the GUI thread, or with a `ModelOf`
// that remembers.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/checkpoint/weights.h"
#include "engine/recipe/parse.h"

namespace heddle::checkpoint {

/// Gives the model of a checkpoint's folder.
using ModelOf = std::function<Result<recipe::Model>(const std::string& folder)>;
/// Looks there.
Result<recipe::Model> model_at(const std::string& folder);

/// "model.rope_theta is 500000.0, there 10000.0": a line for each key by which a model reads the
/// weights of its checkpoint otherwise than that says; none without a checkpoint.
Result<std::vector<std::string>> overridden(const recipe::Model& model);

/// recipe::parse, then the numbers of the model's checkpoint, then recipe::resolve. Sizes that are
/// written, or a preset's, are faults where the checkpoint has others; RoPE's settings, epsilon and
/// the longest sequence are the checkpoint's unless they are written themselves. Paths are
/// absolute, relative ones against `file`'s folder. `ranks` 0: the recipe's own.
recipe::Parsed load_recipe(std::string_view text, const std::string& file,
                           const std::vector<std::string>& sets = {}, int64_t ranks = 0,
                           const ModelOf& model_of = model_at);

/// The same of a file.
recipe::Parsed load_recipe_file(const std::string& path, const std::vector<std::string>& sets = {},
                                int64_t ranks = 0);

}  // namespace heddle::checkpoint
