// Step records in the order in which they came in, from their rows, or from blocks and chunks.
// Throws SQLite::Exception.
#pragma once

#include <vector>

#include "storage/connection.h"
#include "storage/queries.h"
#include "storage/series.h"

namespace heddle::storage {

/// See Reader::steps_after.
std::vector<StepRow> read_steps(Connection& connection, RunId run, int64_t after_id, size_t limit);

/// See Reader::newest_steps.
std::vector<StepRow> read_newest_steps(Connection& connection, RunId run, size_t of_a_rank);

/// A step record of a log that is in a block.
struct PackedStep {
  uint64_t seq = 0;
  telemetry::Step step;
};
/// At most `limit` of them from `seq` on, in order.
std::vector<PackedStep> read_packed_steps(Connection& connection, const LogKey& log, uint64_t seq,
                                          size_t limit);

}  // namespace heddle::storage
