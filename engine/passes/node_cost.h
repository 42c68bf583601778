// What a node costs, by counting: for decisions that need no measurement.
#pragma once

#include <optional>

#include "engine/graph/ir.h"

namespace heddle::passes {

/// Which argument of a matrix product, in place or not, is its first factor, the second following;
/// nullopt for other nodes.
std::optional<size_t> first_factor(const graph::Node& node);

/// Floating-point operations of a matrix product or attention, 0 for other nodes.
double flops(const graph::Graph& graph, const graph::Node& node);

/// Bytes that a node reads and writes.
int64_t bytes_moved(const graph::Graph& graph, const graph::Node& node);

}  // namespace heddle::passes
