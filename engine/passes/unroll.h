// Pass: forward and backward once for each micro-batch, the whole step in one line.
#pragma once

#include "engine/graph/ir.h"

namespace heddle::passes {

/// Repeats forward and backward `micro_batches` times before the optimizer; the inputs of
/// micro-batch 2 are called "tokens@2". States that are sums over one step only (accumulated to,
/// read, set to zero) become values of the step: the first micro-batch gives them, the others add.
void unroll(graph::Graph& graph);

/// "tokens@2" → {"tokens", 2}; micro-batch 0 has the plain name.
std::pair<std::string, int64_t> micro_batch_input(const std::string& name);

}  // namespace heddle::passes
