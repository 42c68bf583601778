// What a planned step's memory is held for, at every moment of it.
#pragma once

#include <vector>

#include "engine/cost/simulate.h"
#include "engine/passes/pipeline.h"
#include "engine/plan/memory_bytes.h"

namespace heddle::cost {

/// A rank's memory.
struct MemoryUse {
  /// By node: what is in use of the arena while it runs, and the states.
  std::vector<plan::MemoryBytes> at_node;
  plan::MemoryBytes peak;  // at the node that needs most; what the arena has beyond, and what no
                           // node decides, are `other`
  int64_t peak_bytes = 0;  // the sum: states, the whole arena, and `beyond`
};

/// `beyond`: bytes of the process or device that no plan decides. Linear in nodes and values.
MemoryUse memory_use(const passes::Plan& plan, int64_t beyond);

}  // namespace heddle::cost
