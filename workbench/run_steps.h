// The steps that the store has of a run: what was predicted, and one that was measured.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/plan/document.h"
#include "storage/queries.h"
#include "workbench/step_alignment.h"
#include "workbench/step_plan.h"

namespace heddle::workbench {

enum class Kind : uint8_t { predicted, measured };

struct RunSteps {
  storage::RunId id = 0;
  std::string run;                                 // its name
  std::shared_ptr<const plan::Document> document;  // none: nothing was predicted
  std::shared_ptr<const StepPlan> plan;            // made from the document
  int64_t step = 0;                                // the measured one; 0: none is profiled
  std::map<int64_t, Side> measured;                // by rank

  /// One rank of each pipeline stage, where that is known; else the first one that was measured.
  std::vector<int64_t> ranks() const;
  bool has(Kind kind, int64_t rank) const;
  /// As it was predicted for the rank's stage; `nullptr`: it was not.
  const plan::RankTimeline* timeline(int64_t rank) const;
  /// None: the rank was not profiled, or nothing was predicted of its stage.
  std::optional<Side> side(Kind kind, int64_t rank) const;
};

/// `step` 0: the newest profiled one.
Result<RunSteps> read_steps(storage::Reader& reader, const storage::RunDetail& run,
                            int64_t step = 0);

/// The peak of the rank that holds most, by category; empty where unknown.
struct PeakMemory {
  std::optional<plan::MemoryBytes> predicted;
  /// Categories that the plan decides have its bytes; the rest of the measurement is `other`.
  std::optional<plan::MemoryBytes> measured;
};
/// Needs no profiled step: reads no spans.
Result<PeakMemory> read_peak_memory(storage::Reader& reader, const storage::RunDetail& run);

/// Two steps to compare, named so that a reader can tell them apart.
struct Pair {
  Side left, right;
};
std::optional<Pair> pair_of(const RunSteps& left, Kind left_kind, const RunSteps& right,
                            Kind right_kind, int64_t rank);
/// For one run, its prediction and its measurement. For two, their measured steps or, where one
/// has none, their predicted ones.
std::optional<Pair> usual_pair(const RunSteps& left, const RunSteps& right, int64_t rank);

}  // namespace heddle::workbench
