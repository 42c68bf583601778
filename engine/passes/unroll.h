// Pass: forward and backward once for each micro-batch, the whole step in one line.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/graph/ir.h"
#include "engine/passes/schedule.h"

namespace heddle::passes {

struct UnrollOptions {
  /// The actions in their order; empty: forward and backward of one micro-batch after the other.
  std::vector<Action> actions;
  /// By action: see `received_before`; empty: what is sent backward is waited for at the end.
  std::vector<std::vector<int32_t>> received;
  /// Parameters are gathered once a step and stay for all micro-batches.
  bool gather_once = false;
};

/// Repeats forward and backward `micro_batches` times before the optimizer; the inputs of
/// micro-batch 2 are called "tokens@2". States that are sums over one step only (accumulated to,
/// read, set to zero) become values of the step: the first micro-batch gives them, the others add.
void unroll(graph::Graph& graph, const UnrollOptions& options = {});

/// "tokens@2" → {"tokens", 2}; micro-batch 0 has the plain name.
std::pair<std::string, int64_t> micro_batch_input(const std::string& name);

}  // namespace heddle::passes
