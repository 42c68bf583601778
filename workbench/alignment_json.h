// Two aligned steps as JSON, for `heddle show` and `heddle compare`; seconds and bytes.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "workbench/run_steps.h"

namespace heddle::workbench {

/// {step_seconds, compute_seconds, exposed_seconds, bubble_seconds, idle_seconds}: the last four
/// add up to the first.
nlohmann::ordered_json spent_json(const Spent& spent);

/// {rank, left, right: the name and how the time was spent, difference_seconds, by_bucket,
/// by_phase, by_module, by_node: [{name, left, right, difference_seconds}], whose differences add
/// up to the step's, memory: {category: [left, right]} where both are known, surprises}.
nlohmann::ordered_json alignment_json(const Pair& pair);

/// {step, ranks: [{rank, stage, predicted, measured, surprises}]}; null where a run has not both.
nlohmann::ordered_json prediction_json(const RunSteps& run);

/// An alignment for each rank that both have.
nlohmann::ordered_json breakdown_json(const RunSteps& left, const RunSteps& right);

}  // namespace heddle::workbench
