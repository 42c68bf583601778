// The best of several plans of a step, by simulation, within a memory limit.
#pragma once

#include <string>
#include <vector>

#include "engine/cost/cost_model.h"
#include "engine/cost/simulate.h"
#include "engine/passes/pipeline.h"

namespace heddle::cost {

/// Bytes of a rank that trains by a plan: states, inputs, the arena, and what its process takes
/// besides.
int64_t rank_bytes(const passes::Plan& plan, const CostModel& cost);

/// The choice: the rest of the options is the recipe's.
struct Candidate {
  std::string name;  // "greedy buckets, 2 gathers in flight"
  passes::BucketPlan buckets;
  passes::OverlapOptions overlap;
};

/// The options as they are, "as the recipe says".
Candidate given(const passes::PlanOptions& options);

/// Candidates where the recipe leaves wrapping open, the most promising first: the greedy
/// buckets, one a block, two and four blocks, one each, all in one; gathers in flight and across
/// phases. As many as can be planned in a fraction of a second: fewer for large graphs. `limit`:
/// bytes of the process, 0: none.
std::vector<Candidate> open_candidates(const graph::Graph& captured,
                                       const passes::PlanOptions& base, const CostModel& cost,
                                       int64_t limit);

/// These buckets with less under way at a time, the last one the leanest there is: where nothing
/// else fits a limit.
std::vector<Candidate> lean_candidates(const passes::BucketPlan& buckets);

struct Choice {
  Candidate chosen;
  bool fits = true;  // within the limit
  passes::Plan plan;
  Simulated expected;
  int64_t bytes = 0;  // of the process
};

/// Where nothing is left open and there is no limit: the graph itself becomes the plan.
Choice as_given(graph::Graph captured, const passes::PlanOptions& options, const CostModel& cost);

/// The least simulated step time of those that fit; among those within 0.2 % of it those within 5 %
/// of the least memory. Of these, since no simulation knows all, the one with fewest collectives,
/// each of which costs a little; then the one with most gathers in flight, which has the most time
/// to spare for one that comes late; then the first. Where none fits, the one that needs least
/// memory. There must be a candidate.
Choice choose_best(const graph::Graph& captured, const passes::PlanOptions& base,
                   const std::vector<Candidate>& candidates, const CostModel& cost, int64_t limit);

}  // namespace heddle::cost
