// What the Compare page shows, read from the store in one go. Plain data.
#pragma once

#include <QString>
#include <vector>

#include "gui/models/run_facts.h"

namespace heddle::gui {

struct CompareData {
  storage::Comparison comparison;
  std::vector<RunFacts> runs;  // in the order of the comparison
  Series lossDifference;       // second minus first, at the steps that both have; two runs only
  std::vector<int64_t> commonSteps;  // profiled in every run, ascending
};

/// `step` 0: each run's newest profiled step, the newest common one where there is one.
Result<CompareData> readCompareData(storage::Reader& reader,
                                    const std::vector<storage::RunId>& runs, int64_t step);

/// The newest runs that have trained, at most `count`, newest last: what the page shows unasked.
Result<std::vector<storage::RunId>> newestRuns(storage::Reader& reader, size_t count);

}  // namespace heddle::gui
