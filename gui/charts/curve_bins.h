// A run's bins of one metric, the ranks' as one. Plain data; on the session's reading thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "gui/charts/curve_data.h"
#include "storage/queries.h"

namespace heddle::gui {

struct CurveBins {
  std::vector<storage::Bin> bins;
  /// The ranks that they are of.
  std::vector<int32_t> ranks;
  /// The last step that all of these have reported; −1: none.
  int64_t complete = -1;
};

/// `rank` may be kAllRanks: their values are combined in the metric's way.
Result<CurveBins> readBins(storage::Reader& reader, const CurveRun& run, const std::string& metric,
                           int32_t rank, storage::StepRange range, size_t points);

/// Every sample in the range, in order, a few hundred at a time. `rank` as above.
Result<> eachSample(storage::Reader& reader, const CurveRun& run, const std::string& metric,
                    int32_t rank, storage::StepRange range, const storage::TakeSamples& take);

/// Whether a rank that is not among `ranks` has become one that the metric's curve is made of.
Result<bool> otherRanksReport(storage::Reader& reader, const CurveRun& run,
                              const std::string& metric, int32_t rank,
                              const std::vector<int32_t>& ranks);

}  // namespace heddle::gui
