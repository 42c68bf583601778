// A predicted plan among the runs that are compared: what there would be of a run that has only
// been predicted.
#pragma once

#include "gui/models/planned_recipe.h"
#include "gui/models/run_facts.h"

namespace heddle::gui {

/// A plan has an id below 0, which no run has.
inline bool isPlanned(storage::RunId id) { return id < 0; }

/// Its results are the predicted ones, by the names that they have with a run. Timelines are of
/// `rank`. Any thread; it takes a while for large plans.
RunFacts factsOf(const PlannedRecipe& planned, storage::RunId id, int64_t rank);
storage::Values recipeValues(const PlannedRecipe& planned);

}  // namespace heddle::gui
