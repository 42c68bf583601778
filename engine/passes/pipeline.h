// All passes in order: from the captured step to the planned one.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "engine/passes/bucket_plan.h"
#include "engine/passes/memory.h"
#include "engine/passes/overlap.h"
#include "engine/passes/recompute.h"
#include "engine/passes/stage.h"

namespace heddle::passes {

struct PlanOptions {
  std::string done;  // the pass that the graph stands after already; empty: it was just captured
  BucketPlan buckets;
  std::optional<StageOptions> stages;  // with pipeline parallelism
  bool gather_once = false;            // see UnrollOptions
  RecomputeOptions recompute;          // `stay` is filled in: the last bucket of forward
  OverlapOptions overlap;
  ScratchBytes scratch_bytes = [](const graph::Graph&, const graph::Node&) { return int64_t{0}; };
};

struct Plan {
  graph::Graph graph;
  MemoryPlan memory;   // empty before the memory pass
  BucketPlan buckets;  // what is gathered together
};

/// The passes by name, in order.
inline constexpr std::array<const char*, 6> kPasses = {"recompute", "stage",   "unroll",
                                                       "bucket",    "overlap", "memory"};

/// Whether pass `a` comes before pass `b`; "" and "capture" come before all.
bool comes_before(std::string_view a, std::string_view b);

/// Runs the passes that are not done yet, up to and including `after` (empty: all).
Plan plan(graph::Graph captured, PlanOptions options, const std::string& after = "");

/// The graph as text; behind the memory pass with the place of each buffer, as comments.
std::string to_text(const Plan& plan);

}  // namespace heddle::passes
