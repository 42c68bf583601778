// Pass: what is joined is made in its place.
#pragma once

#include <cstdint>

#include "engine/graph/ir.h"

namespace heddle::passes {

/// Whether a node's result is its arguments, one after the other in one memory (heddle.join).
bool is_join(const graph::Node& node);

/// A join stays a view where each of its parts can be made at its offset of the whole: it is all of
/// a contiguous buffer of the step, which has no padding, is a part of nothing else but the same
/// join again, begins at a multiple of `alignment`, and is not written to after the join, and
/// neither is the whole. Any other join becomes a copy (aten.cat).
void join(graph::Graph& graph, int64_t alignment);

}  // namespace heddle::passes
