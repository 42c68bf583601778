// Whose memory each value is.
#pragma once

#include <vector>

#include "engine/graph/ir.h"

namespace heddle::passes {

/// Whether a collective leaves its results where its arguments lie: a send, and an all-reduce of
/// gradients, which nobody else reads any more.
bool works_in_place(const graph::Node& node);

/// By value: the value whose buffer it is: itself, what it is a view of, or what it was before a
/// node wrote to it. A join (join.h) has a buffer of its own, and so has each of its parts.
std::vector<graph::ValueId> buffers(const graph::Graph& graph);

}  // namespace heddle::passes
