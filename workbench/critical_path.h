// The critical path of a step: of all that its ranks did, the chain that nothing else was faster
// than. From measured or predicted spans and their dependencies: a rank computes in order; a
// collective begins when all its ranks have come to it, and after the transfer before it on the
// wire; compute goes on once what it waits for has come. Where a plan is known it says who meets
// whom and which compute waits; else spans of one name are one collective of all ranks, and compute
// waited for what ended while it stood still.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/telemetry/record.h"
#include "workbench/step_plan.h"

namespace heddle::workbench {

/// A rank's spans, by start. They outlive the question alone.
struct RankStep {
  int64_t rank = 0;
  const std::vector<telemetry::Span>* spans = nullptr;
};

/// A stretch of the path, in its rank's own time.
struct PathPart {
  size_t step = 0;    // index into the steps
  int64_t span = -1;  // index into its spans; −1: nothing was under way before the part after it
  int64_t begin = 0, end = 0;
  bool operator==(const PathPart&) const = default;
};

/// Work of one name, and what comes of making it faster everywhere at once.
struct Hurdle {
  std::string name;        // "mm", "all_gather over dp_shard"
  int64_t on_path_us = 0;  // of the path
  int64_t spans_on_path = 0;
  int64_t faster_us = 0;   // so much less of it makes the step as much shorter …
  std::string next;        // … before this is in the way; empty: nothing ever is
  int64_t at_most_us = 0;  // what the step gains if it takes no time at all
};

struct CriticalPath {
  std::vector<PathPart> parts;  // from the step's begin to its end
  std::vector<Hurdle> hurdles;  // the most time on the path first
  int64_t length_us = 0;        // the sum of the parts
};

inline constexpr const char* kNothingUnderWay = "between operators";

/// `plan` may be null. Linear in the spans, some tens of passes; a million spans take a second or
/// two. Empty where there are no spans.
CriticalPath critical_path(const std::vector<RankStep>& steps, const StepPlan* plan);

}  // namespace heddle::workbench
