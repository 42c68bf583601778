// All passes in order: from the captured step to the planned one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/passes/bucket_plan.h"
#include "engine/passes/memory.h"
#include "engine/passes/overlap.h"
#include "engine/passes/pass_names.h"
#include "engine/passes/recompute.h"
#include "engine/passes/stage.h"

namespace heddle::passes {

struct PlanOptions {
  std::string done;  // the last pass that the graph has had; empty: it was just captured
  BucketPlan buckets;
  std::optional<StageOptions> stages;  // with pipeline parallelism
  bool gather_once = false;            // see UnrollOptions
  RecomputeOptions recompute;          // the last bucket of forward stays as well
  OverlapOptions overlap;
  ScratchBytes scratch_bytes = [](const graph::Graph&, const graph::Node&) { return int64_t{0}; };
  int64_t alignment = kHostAlignment;
};

struct Plan {
  graph::Graph graph;
  MemoryPlan memory = {};                                    // empty before the memory pass
  BucketPlan buckets = {};                                   // what is gathered together
  std::vector<std::pair<const char*, double>> seconds = {};  // of each pass that was run
};

/// A pass by its name: makes of a plan the next one.
struct Pass {
  const char* name;
  void (*run)(Plan& plan, const PlanOptions& options);
};

/// All passes, in order.
std::span<const Pass> all_passes();

/// A pass's place in that order, from 1; 0 for "capture" and "", which come before all; more
/// than there are passes for any other name.
size_t position_of(std::string_view pass);

/// Whether plans are checked against the rules of graph/ir.h, and programs against races: in debug
/// builds and where the environment has HEDDLE_VERIFY, as in tests.
bool verifies();

/// Runs the passes that are not done yet, up to and including `after` (empty: all); memory always,
/// since no text has its places. Throws c10::Error, and where `verifies()` also when a pass leaves
/// a graph that breaks a rule.
Plan plan(graph::Graph captured, const PlanOptions& options, const std::string& after = "");

/// The graph as text; behind the memory pass with the place of each buffer, as comments.
std::string to_text(const Plan& plan);

}  // namespace heddle::passes
