// A run's pace, time left and exposed communication, computed here for every view. Its throughput
// is the summary's median, kept by the store.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "storage/queries.h"

namespace heddle::gui {

struct RunPace {
  int64_t step = 0;        // the last one that ended, here or in the run it goes on from
  int64_t steps = 0;       // 0: the recipe does not say
  double stepSeconds = 0;  // rank 0's, median of the last steps; 0: none yet
  bool ending = false;     // it is being stopped: the steps that are left will not come

  /// Seconds until the last step; nullopt while unknown.
  std::optional<double> remaining() const;
};

Result<RunPace> readPace(storage::Reader& reader, const storage::RunSummary& run);

/// Communication that nothing hides, in a run's median step: the median of the profiled steps, the
/// mean of the ranks. The same number while a run goes on and after its end, on every page.
struct Exposed {
  double seconds = 0;
  double share = 0;  // of the run's median step
};
/// From a run's results; nullopt: they do not have it.
std::optional<Exposed> exposedOf(const std::optional<double>& exposedSeconds,
                                 const std::optional<double>& stepSeconds);
/// From the steps so far, for a run that has no results yet.
Result<std::optional<Exposed>> readExposed(storage::Reader& reader, storage::RunId run,
                                           const std::vector<int32_t>& ranks);
/// So much of a step that pages show it red.
constexpr bool isMuchExposed(double share) { return share >= 0.05; }

}  // namespace heddle::gui
