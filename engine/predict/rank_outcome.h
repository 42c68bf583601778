// The document's part on a rank, from its planned and simulated step.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/cost/cost_model.h"
#include "engine/cost/memory_use.h"
#include "engine/cost/simulate.h"
#include "engine/passes/pipeline.h"
#include "engine/plan/document.h"

namespace heddle::predict {

/// Transfers that a document names.
inline constexpr size_t kMaxExposed = 24;

/// As a document gives times.
inline int64_t microseconds(double seconds) { return std::llround(seconds * 1e6); }

/// A pipeline rank's plan, and what comes of it by the clock and in memory.
struct SimulatedRank {
  int64_t rank = 0;
  int64_t stage = 0;  // the pipeline rank
  passes::Plan plan;
  cost::MemoryUse memory;
  cost::Simulated simulated;
};

/// The part of a document that one rank gives.
struct RankOutcome {
  plan::RankFigures figures;
  std::vector<plan::BucketFigures> buckets;
  std::vector<plan::Exposed> exposed;  // `bucket`: of these buckets
  std::map<std::string, int64_t> bytes_by_group;
  int64_t collectives = 0;
  plan::RankTimeline timeline;
  std::string choice;
  std::string plan_hash;  // empty: only a part of the step was planned
};

/// How often a planned node runs in the step.
using Times = std::function<int64_t(const graph::Node&)>;

/// `with_timeline`: spans and the curve of memory too.
RankOutcome outcome_of(
    SimulatedRank& rank, const cost::CostModel& cost, bool with_timeline,
    const Times& times = [](const graph::Node&) { return 1; });

/// The spans of a simulated step, by start.
std::vector<telemetry::Span> spans_of(const SimulatedRank& rank);

}  // namespace heddle::predict
