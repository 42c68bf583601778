// A predicted plan among the runs that are compared: what there would be of a run that has only
// been predicted.
#pragma once

#include "gui/models/planned_recipe.h"
#include "gui/models/step_facts.h"
#include "storage/queries.h"

namespace heddle::gui {

/// A plan has an id below 0, which no run has.
inline bool isPlanned(storage::RunId id) { return id < 0; }

/// Its results are the predicted ones, by the names that they have with a run.
storage::Comparand comparandOf(const PlannedRecipe& planned, storage::RunId id);
/// Timelines are of `rank`. Any thread; it takes a while for large plans.
StepFacts stepFactsOf(const PlannedRecipe& planned, storage::RunId id, int64_t rank);

}  // namespace heddle::gui
