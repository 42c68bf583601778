// The spans of all ranks of a step and what each of them had to wait for, on one clock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workbench/critical_path.h"

namespace heddle::workbench {

/// Work, or the meeting of a collective's ranks, which takes no time.
struct StepNode {
  int32_t step = -1;  // index into the steps; −1: a meeting
  int64_t span = -1;
  int32_t name = -1;  // index into StepGraph::names
  int64_t start = 0;  // as measured, on the clock of all ranks
  int64_t duration = 0;
  uint32_t first_need = 0, needs = 0;  // in StepGraph::needs
  int64_t lag = 0;  // from the end of the last need to the start; below 0: they overlap
};

struct StepGraph {
  std::vector<StepNode> nodes;  // each after all that it needs
  std::vector<uint32_t> needs;  // indices of nodes
  std::vector<std::string> names;
  std::vector<int64_t> shift;  // by step: added to its times, they are on the common clock
};

StepGraph step_graph(const std::vector<RankStep>& steps, const StepPlan* plan);

/// A collective's spans: one of each of its ranks.
struct Meeting {
  struct Member {
    int32_t step = 0;
    int64_t span = 0;
  };
  std::vector<Member> members;
};

/// The collectives of a step. Transfers alone: waits for them are no members.
std::vector<Meeting> meetings_of(const std::vector<RankStep>& steps, const StepPlan* plan);

}  // namespace heddle::workbench
