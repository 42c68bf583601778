// Step records into chunks, pyramid and step blocks. Runs in the writer's transaction. Throws
// SQLite::Exception.
#pragma once

#include <cstdint>

#include "storage/connection.h"
#include "storage/series.h"

namespace heddle::storage {

/// A log is compacted when so many step records wait: rewriting chunks for every step would cost
/// far more.
inline constexpr int64_t kCompactAfter = 256;

/// Moves a log's waiting step records into chunks and blocks. A record stays in `records` as well
/// where they do not have the whole of it: in charts a series' steps grow, so one that repeats or
/// goes back within an epoch is not in chunks; nor is a metric without a series.
void compact(Connection& connection, const LogKey& log);

/// Whether a block has the log's record of that sequence number.
bool is_in_block(Connection& connection, const LogKey& log, uint64_t seq);

/// Compacts all logs of a store again whose records are all there, with the newest kinds of chunks
/// and blocks.
void compact_all(Connection& connection);

}  // namespace heddle::storage
