// The clock of a planned step without running it: two streams, as the executor has them.
#pragma once

#include <functional>

#include "engine/cost/cost_model.h"
#include "engine/graph/ir.h"

namespace heddle::cost {

struct Simulated {
  double step_seconds = 0;
  double exposed_seconds = 0;  // compute stands still for communication
};

using NodeDuration = std::function<Duration(const graph::Node&)>;

/// Walks the nodes in order. Compute runs one node after the other and stops at waits; collectives
/// run one after the other from when they are started. Beside one, compute loses as large a part
/// of what it would lose to the whole transfer as is moved meanwhile. A second step follows the
/// first, with the gathers that it left under way: its figures are returned. Linear in the number
/// of nodes.
Simulated simulate(const graph::Graph& planned, const NodeDuration& duration);

/// With the model's durations.
Simulated simulate(const graph::Graph& planned, const CostModel& cost);

}  // namespace heddle::cost
