// The published rows that are most like a recipe.
#pragma once

#include <string>
#include <vector>

#include "engine/published/rows.h"
#include "engine/recipe/recipe.h"

namespace heddle::published {

/// How unlike a row and a resolved recipe on that hardware are: octaves between sizes, the model's
/// counting most, then the hardware, then the layout. 0: nothing differs.
double distance(const Row& row, const recipe::Recipe& recipe, const std::string& hardware);

/// The `most` nearest, the nearest first; none beyond a model of four times the size or a quarter.
std::vector<Row> nearest(const std::vector<Row>& rows, const recipe::Recipe& recipe,
                         const std::string& hardware, size_t most);

/// "the plan promises 41 % more than …", where a plan of so many tokens a second is far above the
/// best of those that have the same recipe: model, hardware, precision and sequence, and as many
/// ranks within a factor of four. Empty where it is not, or none has.
std::string far_above(const std::vector<Row>& rows, const recipe::Recipe& recipe,
                      const std::string& hardware, double tokens_per_second_per_rank);

/// "9,511 tokens/s a GPU: Llama3-8B on 8 × h100-sxm, sequence 8192, micro-batch 1, tp 1 pp 1 cp 2,
/// fp8 (NeMo 24.07: …)".
std::string words(const Row& row);

}  // namespace heddle::published
