// Steps of many micro-batches, predicted from a few of them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "engine/graph/ir.h"
#include "engine/predict/machine.h"
#include "engine/predict/predict.h"
#include "engine/predict/rank_outcome.h"
#include "engine/recipe/recipe.h"

namespace heddle::predict {

/// Plans and simulates three micro-batches of each kind of pipeline rank, those that are planned
/// alike being of one kind (`planning_key`), and puts forward and backward of all micro-batches
/// together by the pipeline's schedule. `captured`: the recipe's step. What a micro-batch keeps for
/// its backward pass counts as often as micro-batches are under way. The time is linear in the
/// kinds of stages, and hardly depends on the number of micro-batches. Outcomes have no plan hash.
Result<std::vector<RankOutcome>> steps_by_parts(const recipe::Recipe& recipe,
                                                const Machine& machine,
                                                const PredictOptions& options,
                                                const graph::Graph& captured,
                                                int64_t validation_bytes);

}  // namespace heddle::predict
