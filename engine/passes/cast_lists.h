// Pass: the casts for a collective become one.
#pragma once

#include "engine/graph/ir.h"

namespace heddle::passes {

/// Where a collective reads two casts or more that nobody else reads, of one kind and with no write
/// between them and the collective, one operator in front of it does them all
/// (heddle.cast_list): on a GPU a kernel instead of one each.
void cast_lists(graph::Graph& graph);

}  // namespace heddle::passes
