// A rank's measured memory over a profiled step, by category.
#pragma once

#include <vector>

#include "engine/cost/memory_use.h"
#include "engine/runtime/program.h"
#include "engine/runtime/timeline.h"

namespace heddle::train {

/// One thread.
class StepMemory {
 public:
  /// `states`: the rank's.
  StepMemory(const runtime::Program& program, const std::vector<holdings::State>& states);

  /// At the begin of each node, when it ran in this step; of neighbours that are too many the one
  /// with most. What the plan decides is as placed, of the arena what is in use; all else of the
  /// sampled bytes is `other`. `spans`: of this step; without a sample there are no moments.
  std::vector<plan::MemoryMoment> moments(const std::vector<telemetry::Span>& spans,
                                          const std::vector<runtime::MemorySample>& samples) const;

 private:
  cost::MemoryUse use_;  // with nothing beyond the plan
};

}  // namespace heddle::train
