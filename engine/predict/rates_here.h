// The rates that a recipe is planned by on this host, as far as they are known without measuring.
#pragma once

#include <functional>
#include <string>

#include "engine/cost/rates.h"
#include "engine/recipe/layout.h"
#include "engine/recipe/recipe.h"

namespace heddle::predict {

/// How the ranks of a group reach each other, by the group's name and its number of ranks.
using KindOf = std::function<cost::GroupKind(const std::string& name, int64_t ranks)>;

/// The kind of each of the layout's groups. A pair of a pipeline is met as the pipeline's ranks
/// are.
cost::GroupKinds groups_of(const recipe::Layout& layout, const KindOf& kind_of);

/// CPU ranks' rates by this host's calibration; the remarks say where it cannot be read.
cost::Rates kept_rates(int64_t local_ranks, int64_t threads, const cost::GroupKinds& groups);

/// The rates of the recipe's ranks, all of them on this host, by its calibration.
cost::Rates rates_here(const recipe::Recipe& recipe);

}  // namespace heddle::predict
