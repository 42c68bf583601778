// The Compare page's data, read from the store in one go. Plain data.
#pragma once

#include <QString>
#include <map>
#include <string>
#include <vector>

#include "gui/views/compare/planned_facts.h"

namespace heddle::gui {

/// The plans among the compared runs, by their ids.
using Plans = std::map<storage::RunId, PlannedRecipe>;

struct CompareData {
  storage::Comparison comparison;
  std::vector<RunFacts> runs;  // in the order of the comparison
  Series lossDifference;       // second minus first, at the steps that both have; two runs only
  std::vector<int64_t> commonSteps;  // profiled in every run, ascending
  int64_t rank = 0;                  // whose timelines these are
  std::vector<int64_t> ranks;        // one of each pipeline stage of the run that has most
};

/// As many runs are drawn; of more the first ones.
inline constexpr size_t kMaxCompared = 40;

/// The runs that exist and are not in the trash, plans included, with a line each that changes when
/// anything that the page shows of the run does.
struct Present {
  std::vector<storage::RunId> runs;
  std::vector<std::string> marks;
  bool operator==(const Present&) const = default;
};
Result<Present> presentRuns(storage::Reader& reader, const std::vector<storage::RunId>& runs);

/// At most kMaxCompared runs, all present, and plans of `plans`. `step` 0: each run's newest
/// profiled step, the newest common one where there is one. Timelines are of `rank`.
Result<CompareData> readCompareData(storage::Reader& reader,
                                    const std::vector<storage::RunId>& runs, const Plans& plans,
                                    int64_t step, int64_t rank);

/// The newest runs that have trained, at most `count`, newest last: what the page shows unasked.
Result<std::vector<storage::RunId>> newestRuns(storage::Reader& reader, size_t count);

}  // namespace heddle::gui
