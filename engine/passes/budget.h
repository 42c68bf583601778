// A recipe's memory budget for recomputation.
#pragma once

#include <map>

#include "engine/passes/pipeline.h"

namespace heddle::passes {

/// The memory of one step, planned with the same options, by the share that is kept.
using BytesByShare = std::map<double, int64_t>;

/// The largest share of forward's values that can be kept (RecomputeOptions::budget) such that the
/// step's memory is at most least + budget · (most − least), where least is what recomputing
/// everything needs and most what recomputing nothing does. Memory grows with the budget, and what
/// is recomputed shrinks. Plans the step a few times: with those shares that `known` lacks, and
/// adds them.
double share_for_budget(const graph::Graph& captured, const PlanOptions& options, double budget,
                        BytesByShare& known);

}  // namespace heddle::passes
