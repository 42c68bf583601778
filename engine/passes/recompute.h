// Pass: what forward made and backward needs is kept, or made again.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "engine/graph/ir.h"

namespace heddle::passes {

enum class Recompute {
  none,
  full,       // only what enters a block is kept
  selective,  // attention, scattered activations and every second matrix product are kept
              // (TorchTitan's choice)
  budget,     // a share of what `none` keeps, the dearest per byte first
};

struct RecomputeOptions {
  /// How a block ("layers.3") or a module outside of all blocks ("norm") is treated.
  std::function<Recompute(std::string_view module)> mode = [](std::string_view) {
    return Recompute::none;
  };
  double budget = 1.0;  // that share; 0: as `full`, 1: as `none`
  /// Gathered parameters are gathered again for backward.
  bool reshard = true;
  /// Modules whose gathered parameters stay all the same: what the end of forward leaves for the
  /// start of backward.
  std::unordered_set<std::string> stay;
  /// The process group whose gathers of activations in blocks are made again; empty: they stay.
  std::string gathers_again;
};

/// Copies of forward nodes are put into backward, each just before the first node that reads it; so
/// results are the same bits. Nodes outside of blocks are recomputed only if they lead from a
/// parameter's shard to the whole parameter. `gathers_again` counts whatever a block's mode is.
void recompute(graph::Graph& graph, const RecomputeOptions& options);

}  // namespace heddle::passes
