// Pass: the collectives of a bucket's parameters become one, and so do the operators that work on
// lists behind them (norms, updates).
#pragma once

#include "engine/passes/bucket_plan.h"

namespace heddle::passes {

/// Forward gathers, backward gathers and scatters of a bucket are separate collectives, and so are
/// of each micro-batch. Each is one vector collective: a list of tensors, none of them copied
/// together. Nodes of modules in no bucket stay as they are.
void bucket(graph::Graph& graph, const BucketPlan& plan);

}  // namespace heddle::passes
