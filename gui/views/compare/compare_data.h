// The Compare page's data. Runs are read once and again only where the store says that they have
// changed; steps are read of the few runs whose timelines are shown.
#pragma once

#include <map>
#include <vector>

#include "gui/timeline/step_counters.h"
#include "gui/views/compare/compared_keys.h"
#include "gui/views/compare/planned_facts.h"

namespace heddle::gui {

/// The plans among the compared runs, by their ids.
using Plans = std::map<storage::RunId, PlannedRecipe>;

struct ShownStep {
  storage::RunId run = 0;
  StepFacts facts;
  Counters counters = {}, predictedCounters = {};  // of its timelines
};

struct CompareData {
  std::shared_ptr<const storage::Comparison> comparison =
      std::make_shared<const storage::Comparison>();
  ComparedKeys keys = std::make_shared<const std::vector<ComparedKey>>();  // the keys that differ
  std::vector<workbench::PeakMemory> memory;  // an entry a run of the comparison
  std::vector<ShownStep> steps;               // in the order of the comparison
  std::vector<int64_t> commonSteps;  // profiled in every run that has a shown step, ascending
  std::vector<int64_t> ranks;        // to choose from, ascending
  int64_t rank = 0;                  // whose timelines these are
  size_t leftOut = 0;                // metrics of the run that has most, see storage::add_metrics

  size_t indexOf(storage::RunId run) const;  // of the comparison; its size: none
  bool hasPlansAlone() const;
};

struct CompareQuery {
  std::vector<storage::RunId> runs = {};
  Plans plans = {};
  std::vector<storage::RunId> timelines = {};
  int64_t step = 0;  // 0: each run's newest profiled step, the newest common one where there is one
  int64_t rank = 0;
  bool anyway = true;  // also when nothing has changed since the last reading
};

struct CompareAnswer {
  std::vector<storage::RunId> present;  // without runs that are gone or in the trash
  std::optional<CompareData> data;      // none: nothing has changed, or no run is left
};

/// Keeps what it has read for the next time. Made on one thread, then used on another.
class CompareReader {
 public:
  Result<CompareAnswer> read(storage::Reader& reader, const CompareQuery& query);

 private:
  Result<bool> follow(storage::Reader& reader, const CompareQuery& query);
  Result<storage::Comparison> compare(storage::Reader& reader, const CompareQuery& query,
                                      const std::vector<storage::RunId>& runs);
  Result<> readMemory(storage::Reader& reader, const CompareQuery& query, CompareData& data);
  Result<> readSteps(storage::Reader& reader, const CompareQuery& query, CompareData& data);

  int64_t cursor_ = 0;
  std::map<storage::RunId, bool> present_;  // every run of the store: not in the trash
  std::map<storage::RunId, storage::RunDetail> details_;
  std::map<storage::RunId, storage::Values> recipes_;
  std::map<storage::RunId, workbench::PeakMemory> memory_;
  std::map<storage::RunId, size_t> leftOut_;  // metrics, see storage::add_metrics
};

/// The newest runs that have trained, at most `count`, newest last: what the page shows unasked.
Result<std::vector<storage::RunId>> newestRuns(storage::Reader& reader, size_t count);

}  // namespace heddle::gui
