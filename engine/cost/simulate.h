// The clock of a planned step without running it: what computes and what transfers on every rank,
// as the executor has them, and what the stages of a pipeline wait for.
#pragma once

#include <functional>
#include <vector>

#include "engine/cost/cost_model.h"
#include "engine/graph/ir.h"

namespace heddle::cost {

/// Seconds from the step's begin.
struct Interval {
  double begin = 0, end = 0;
  double length() const { return end - begin; }
};

/// One rank's work, and how long each of its nodes takes. The graph outlives it.
struct RankProgram {
  const graph::Graph* planned = nullptr;
  std::vector<Duration> durations;  // by node; zeros for waits
};

using NodeDuration = std::function<Duration(const graph::Node&)>;
RankProgram program_of(const graph::Graph& planned, const NodeDuration& duration);
/// With the model's durations.
RankProgram program_of(const graph::Graph& planned, const CostModel& cost);

/// A collective: from its start, through its turn on the link, to the wait for it.
struct Transferred {
  double started = 0;  // the program's order to begin
  Interval moving;
  Interval bubble;       // compute is idle, as another pipeline stage has yet to reach it
  double exposed = 0;    // compute is idle while it moves, or while what is before it does
  double idle_link = 0;  // since its wire had last moved anything, when this one was started
  double beside = 0;     // compute between its start and its wait
};

/// Transfers that the previous step left under way.
struct Carried {
  size_t node = 0;
  Interval moving;
};

/// One rank's step. compute + exposed + bubble = step.
struct Simulated {
  double step_seconds = 0;
  double compute_seconds = 0;
  double exposed_seconds = 0;          // compute is idle for communication
  double bubble_seconds = 0;           // compute is idle for another pipeline stage
  std::vector<Interval> compute;       // by node; empty for collectives and waits
  std::vector<Transferred> transfers;  // by node; empty for others
  std::vector<Carried> carried;
};

/// Walks the nodes of all programs in order. Compute runs one node after the other and stops at
/// waits; the collectives of a wire run one after the other from when they are started, since
/// they share what it can carry, though on GPUs each group has a stream of its own. Next to one,
/// compute loses as large a part of what it would lose to the whole transfer as is moved meanwhile;
/// next to one of each wire, what it loses to both. What
/// joins pipeline stages (groups whose names begin with "pp") moves when all its stages have come
/// to it, and slows nothing. A second step follows the first, with the gathers that it left under
/// way: its figures are returned. `programs`: one for each pipeline rank, or one. Linear in the
/// number of nodes.
std::vector<Simulated> simulate(const std::vector<RankProgram>& programs);

/// One rank without a pipeline.
Simulated simulate(const RankProgram& program);

}  // namespace heddle::cost
