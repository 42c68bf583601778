// Pass: communication where compute hides it. The order of compute does not change.
#pragma once

#include "engine/graph/ir.h"

namespace heddle::passes {

struct OverlapOptions {
  /// Gathers that may be under way or waiting to be read while an earlier one's bucket computes.
  int gathers_in_flight = 2;
  /// Scatters that may be under way before the oldest is waited for.
  int scatters_in_flight = 2;
  /// Gathers for backward may be issued in forward, and the next micro-batch's in backward.
  bool across_phases = false;
};

/// Puts the start of each gather before the compute that hides it (arXiv 2411.00284, reordering:
/// the gather of bucket i before the wait of i − 1), of each scatter behind its last gradient, and
/// its wait as late as `scatters_in_flight` allows. What follows from a scatter (norms, updates)
/// comes right after what it needs; updates in the order in which the next forward needs them,
/// and behind an update the next step's gather of that bucket, as many as may be in flight: those
/// are marked `next_step`, the program wraps around.
void overlap(graph::Graph& graph, const OverlapOptions& options);

}  // namespace heddle::passes
