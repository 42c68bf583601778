// A launch as a person ordered it: now or through the queue, one run or a sweep. No widgets;
// carried out on a working thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gui/models/fork_name.h"
#include "gui/views/launch/sweep_choice.h"
#include "workbench/workbench.h"

namespace heddle::gui {

struct LaunchOrder {
  workbench::LaunchRequest request;  // without ranks
  int ranks = 0;
  std::optional<ForkOf> fork;        // it goes on from that run
  std::optional<SweepChoice> sweep;  // several runs
  bool queued = false;               // a sweep always is
};

/// The runs that it made; of the queue they need not have begun.
using LaunchOutcome = tl::expected<std::vector<storage::CreatedRun>, workbench::LaunchError>;

/// An error of the outer Result: there is no attempt.
Result<LaunchOutcome> carryOut(workbench::Workbench& workbench, LaunchOrder order,
                               const workbench::LaunchProgress& progress);

}  // namespace heddle::gui
