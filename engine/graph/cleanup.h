// Clean-ups that every captured graph goes through before anything else looks at it.
#pragma once

#include "engine/graph/ir.h"

namespace heddle::graph {

/// Autograd adds gradients between two nodes of its own, so that such a sum has no module: it takes
/// its consumer's.
void name_gradient_sums(Graph& graph);

/// Removes nodes whose results nobody reads and that write and send nothing.
void remove_unread_nodes(Graph& graph);

}  // namespace heddle::graph
