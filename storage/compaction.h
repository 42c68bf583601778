// Step records into chunks, pyramid and step blocks. Runs in the writer's transaction. Throws
// SQLite::Exception.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "storage/connection.h"
#include "storage/series.h"
#include "storage/step_block.h"

namespace heddle::storage {

/// A log is compacted when so many step records wait: rewriting chunks for every step would cost
/// far more.
inline constexpr int64_t kCompactAfter = 256;

/// Moves a log's waiting step records into chunks and blocks. A record stays in `records` as well
/// where they do not have the whole of it: in charts a series' steps grow, so one that repeats or
/// goes back within an epoch is not in chunks; nor is a metric without a series.
void compact(Connection& connection, const LogKey& log);

/// Adds samples to a series' chunks and pyramid. Calls `left_out` with the index of each sample
/// whose step is not after the last one.
void append_samples(Connection& connection, const SeriesLog& at, std::span<const int64_t> steps,
                    std::span<const double> values, const std::function<void(size_t)>& left_out);

/// Adds step records whose values are in chunks to a log's blocks; see StepBlockMaker::add.
class StepBlocks {
 public:
  StepBlocks(Connection& connection, const LogKey& log);
  void add(int64_t id, uint64_t seq, int64_t step, const std::vector<std::string>& names,
           uint64_t digest);
  /// Call at the end: until then some records are only in memory.
  void save();

 private:
  Connection& connection_;
  LogKey log_;
  StepBlockMaker maker_;
  bool changed_ = false;
};

/// Whether a block has the log's record of that sequence number.
bool is_in_block(Connection& connection, const LogKey& log, uint64_t seq);

/// Compacts all logs of a store again whose records are all there, with the newest kinds of chunks
/// and blocks.
void compact_all(Connection& connection);

}  // namespace heddle::storage
