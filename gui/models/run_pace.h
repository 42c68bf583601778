// How fast a run goes and how long it still takes: computed here, for all who show it. What is said
// of a run's throughput is its summary's median, kept by the store.
#pragma once

#include <cstdint>
#include <optional>

#include "storage/queries.h"

namespace heddle::gui {

struct RunPace {
  int64_t step = 0;        // the last one that ended, here or in the run it goes on from
  int64_t steps = 0;       // 0: the recipe does not say
  double stepSeconds = 0;  // rank 0's, median of the last steps; 0: none yet
  bool ending = false;     // it is being stopped: the steps that are left will not come

  /// Seconds until the last step; nullopt when that cannot be told yet.
  std::optional<double> remaining() const;
};

Result<RunPace> readPace(storage::Reader& reader, const storage::RunSummary& run);

/// Exposed communication as a share of a step, of a run's results.
std::optional<double> exposedShare(const std::optional<double>& exposedSeconds,
                                   const std::optional<double>& stepSeconds);
/// So much of a step that whoever shows it shows it red.
constexpr bool isMuchExposed(double share) { return share >= 0.05; }

}  // namespace heddle::gui
