// The uses of a planned step's memory, at every moment of it.
#pragma once

#include <vector>

#include "engine/cost/simulate.h"
#include "engine/holdings/state.h"
#include "engine/passes/memory.h"
#include "engine/plan/memory_bytes.h"

namespace heddle::cost {

/// A rank's memory. What the arena has beyond the most that is in use of it, its packing's loss, is
/// `other` at every node, as is what no node decides: both are there all the time.
struct MemoryUse {
  std::vector<plan::MemoryBytes> at_node;  // by node: while it runs
  plan::MemoryBytes peak;                  // the largest of them
  int64_t peak_bytes = 0;                  // its sum: states, the whole arena, and `beyond`
};

/// `states`: the rank's. `beyond`: bytes of the process or device that no plan decides. Linear in
/// nodes and values.
MemoryUse memory_use(const graph::Graph& graph, const passes::MemoryPlan& memory,
                     const std::vector<holdings::State>& states, int64_t beyond);

}  // namespace heddle::cost
