#include <fmt/format.h>

#include "engine/recipe/float8.h"
#include "engine/recipe/modules.h"
#include "engine/recipe/resolve.h"

namespace heddle::recipe {
namespace {

const std::string kKey = "precision.float8", kExcept = "precision.float8_except";

bool fits(int64_t size) { return size % kFloat8Multiple == 0; }

// Checks a tensor-parallel rank's part of each matrix.
void check_matrices(const Recipe& recipe, Checks& checks) {
  const Float8Layers layers(recipe.precision);
  for (const Parameter& parameter : reads(recipe.model)) {
    if (parameter.shape.size() != 2 || parameter.module == "tok_embeddings" ||
        layers.of(parameter.module) == Float8::none)
      continue;
    const auto local = local_shape(parameter.shape, parameter.cut, recipe.parallelism.tp);
    if (fits(local[0]) && fits(local[1])) continue;
    checks.fault({kKey},
                 fmt::format("{} is {} × {} on a rank, and products in 8 bits take multiples of {}",
                             parameter.module, local[0], local[1], kFloat8Multiple),
                 fmt::format("none, or {} with {}", kExcept, parameter.module));
    return;  // of all layers
  }
}

// The gradient of a weight is a sum over the tokens that the layer gets at once.
void check_tokens(const Recipe& recipe, Checks& checks) {
  const int64_t tokens = recipe.micro_batch_size() * recipe.data.seq_len /
                         (recipe.parallelism.cp * recipe.parallelism.tp_chunks);
  if (fits(tokens)) return;
  checks.fault({kKey},
               fmt::format("linear layers get {} tokens at once, and products in 8 bits take "
                           "multiples of {}",
                           tokens, kFloat8Multiple),
               "none, or training.local_batch × data.seq_len in such multiples");
}

}  // namespace

void check_float8(const Recipe& recipe, Checks& checks) {
  if (recipe.precision.float8 == Float8::none) return;
  if (recipe.precision.param != Precision::bf16) {
    checks.fault({kKey, "precision.param"}, "products in 8 bits are made of bf16, not of fp32",
                 "none, or precision.param = \"bf16\"");
    return;
  }
  const bool known = recipe.model.dim > 0 && recipe.model.n_layers > 0 &&
                     recipe.model.n_heads > 0 && recipe.model.ffn_dim > 0;
  if (!known || !checks.sound({"parallelism.tp", "parallelism.cp", "parallelism.tp_chunks",
                               "parallelism.microbatches", "training.local_batch", "data.seq_len",
                               "model.n_heads", "model.n_kv_heads", kExcept}))
    return;
  check_matrices(recipe, checks);
  check_tokens(recipe, checks);
}

}  // namespace heddle::recipe
