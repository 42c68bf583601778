// A run's times: its host's records, converted to this machine's clock.
#pragma once

#include <optional>

#include "storage/run.h"

namespace heddle::storage {

/// In a run's environment, where the clock of rank 0's host is off: by how many seconds it is ahead
/// of this machine's. Its records' times are taken into the run less this.
inline constexpr const char* kClockAhead = "clock_ahead_seconds";

/// How long an ended run took, of a lost one until its last sign of life. Nothing where its clock
/// went back in between, or an end was never seen.
inline std::optional<double> seconds_taken(const RunSummary& run) {
  if (!run.started || !run.finished || *run.finished < *run.started) return std::nullopt;
  return *run.finished - *run.started;
}

}  // namespace heddle::storage
