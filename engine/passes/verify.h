// Whether a graph keeps the rules that stand atop graph/ir.h. Messages begin with the rule's
// number.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/graph/ir.h"
#include "engine/passes/memory.h"

namespace heddle::passes {

/// Rules 1 to 3 and, where `memory` has places, rule 4. Near-linear in the number of nodes.
Result<> verify(const graph::Graph& graph, const MemoryPlan& memory = {});

/// The ranks that `rank` meets in a group of this name, itself among them.
using Members = std::function<std::vector<int>(int rank, const std::string& group)>;

/// Rule 5, for two steps, one after the other: `graphs` are the planned ones of all ranks.
Result<> verify_ranks(const std::vector<graph::Graph>& graphs, const Members& members);

}  // namespace heddle::passes
