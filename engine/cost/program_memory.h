// The memory of another program's step, by category.
#pragma once

#include "engine/cost/program_shape.h"
#include "engine/hardware/entry.h"
#include "engine/plan/memory_bytes.h"

namespace heddle::cost {

/// One pipeline rank's memory.
struct ProgramMemory {
  plan::MemoryBytes reserved;  // by the allocator, as much as it takes where there is enough
  int64_t live = 0;            // less it cannot do with
};

/// States and gradients by the program's bytes a parameter; what layers keep for backward, for as
/// many micro-batches as the rank has under way (1F1B: pp − rank); the loss on the last one. The
/// update's own needs count where they exceed backward's.
ProgramMemory program_memory(const ProgramShape& shape, int64_t rank,
                             const hardware::Program& program);

}  // namespace heddle::cost
