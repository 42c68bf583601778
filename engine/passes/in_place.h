// Results that take the memory of what they are made of.
#pragma once

#include "engine/graph/ir.h"

namespace heddle::passes {

/// The arguments (by position) whose memory result `output` of the node may take, best first, of
/// those that its operator's traits name: each that has the result's shape and type. Empty where
/// there is none, or where the operator may copy an argument into what it takes for the result.
/// Whether an argument's memory is still needed is not looked at, nor what else of the node shares
/// it.
c10::SmallVector<size_t, 2> may_take(const graph::Graph& graph, const graph::Node& node,
                                     size_t output);

}  // namespace heddle::passes
