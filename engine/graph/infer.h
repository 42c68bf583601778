// A node's results, by the rules of its operator.
#pragma once

#include <vector>

#include "base/result.h"
#include "engine/graph/ir.h"

namespace heddle::graph {

/// The node's results in the order of its outputs, those that it writes to left out: the operator
/// is called on tensors of the arguments' sizes, strides and types that have no storage. An error
/// says what the operator does not accept.
Result<std::vector<Value>> infer_results(const Graph& graph, const Node& node);

}  // namespace heddle::graph
