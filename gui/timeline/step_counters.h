// The numbers over a step that are known of a rank, as lanes. Any thread.
#pragma once

#include <memory>
#include <vector>

#include "gui/timeline/counter.h"
#include "workbench/step_plan.h"

namespace heddle::gui {

using Counters = std::vector<std::shared_ptr<const Counter>>;

/// Bytes in flight, of transfers whose bytes the plan knows; memory, where moments of it are known.
/// `plan` may be null. Without either there are none.
Counters countersOf(const Timeline& timeline, const workbench::StepPlan* plan, int64_t rank,
                    const std::vector<plan::MemoryMoment>& memory = {});

}  // namespace heddle::gui
