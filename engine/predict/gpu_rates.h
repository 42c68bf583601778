// The rates by which runs on this host's GPUs are planned.
#pragma once

#include <string>

#include "engine/cost/rates.h"
#include "engine/recipe/layout.h"
#include "engine/recipe/recipe.h"

namespace heddle::predict {

/// How the recipe's products are in 8 bits, for the cost model.
cost::Float8 float8_of(recipe::Float8 float8);

/// Rates of GPUs that the driver names so: as `heddle-engine calibrate --device cuda` has measured
/// them on this host, else as the catalogue has their kind, else by guess; the remarks say which.
/// Every `ranks_of_host` ranks, in their order, are on one host. `groups`: of the layout. With
/// transport.gpus = "host" nothing is known but a guess.
cost::Rates rates_of_gpus(const recipe::Recipe& recipe, const recipe::Layout& layout,
                          const std::string& gpu, int64_t ranks_of_host,
                          const cost::GroupKinds& groups);

}  // namespace heddle::predict
