// A node's cost, by counting: for decisions that need no measurement.
#pragma once

#include "engine/graph/ir.h"

namespace heddle::passes {

/// Floating-point operations of a node; 0 where what it moves is what takes its time.
double flops(const graph::Graph& graph, const graph::Node& node);

/// Bytes that a node reads and writes.
int64_t bytes_moved(const graph::Graph& graph, const graph::Node& node);

}  // namespace heddle::passes
