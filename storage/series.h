// Series of a run: step records into chunks and pyramid, and back out at the resolution asked for.
// The newest few hundred step records of a log are read from the records themselves: rewriting
// chunks for every step would cost far more. Throws SQLite::Exception, like everything on a
// Connection.
#pragma once

#include <string>
#include <vector>

#include "storage/chunk.h"
#include "storage/connection.h"
#include "storage/queries.h"

namespace heddle::storage {

/// A log is compacted when so many step records wait.
inline constexpr int64_t kCompactAfter = 256;

struct LogKey {
  RunId run = 0;
  int32_t rank = 0;
  int32_t epoch = 0;
  auto operator<=>(const LogKey&) const = default;
};

/// Moves a log's waiting step records into chunks. In charts a series' steps grow: a step that
/// repeats or goes back within one epoch stays in the records alone.
void compact(Connection& connection, const LogKey& log);

/// The series over `range`, ascending, as bins that are at most 16 times as many as `max_points`
/// (0: single samples).
std::vector<Bin> read_series(Connection& connection, RunId run, const std::string& name,
                             int32_t rank, StepRange range, size_t max_points);

}  // namespace heddle::storage
