// Series of a run at the resolution asked for: from chunks and pyramid, the newest few hundred step
// records of a log from the records themselves. Throws SQLite::Exception, like everything on a
// Connection.
#pragma once

#include <bit>
#include <optional>
#include <string>
#include <vector>

#include "storage/chunk.h"
#include "storage/connection.h"
#include "storage/queries.h"

namespace heddle::storage {

struct LogKey {
  RunId run = 0;
  int32_t rank = 0;
  int32_t epoch = 0;
  auto operator<=>(const LogKey&) const = default;
};

/// One series of one log: its chunks' key.
struct SeriesLog {
  int64_t series = 0;
  int32_t rank = 0;
  int32_t epoch = 0;
};

/// None: a metric of so many that it is not drawn.
std::optional<int64_t> series_id(Connection& connection, RunId run, const std::string& name);

inline bool is_charted(const telemetry::Step& step) {
  return step.step >= 0 && step.step <= kLastStep;
}
/// Whether a step's time belongs to the series of times: 0 means unknown.
inline bool is_known(double time) { return std::bit_cast<uint64_t>(time) != 0; }
inline bool has_time(const telemetry::Step& step) { return is_known(step.time); }
/// A step record's sample of the series.
std::optional<double> value_of(const telemetry::Step& step, const std::string& name);

/// The samples of a log within the range that are in chunks.
SampleColumns chunked_samples(Connection& connection, const SeriesLog& at, StepRange range);

/// The series over `range`, ascending, as bins that are at most 16 times as many as `max_points`
/// (0: single samples).
std::vector<Bin> read_series(Connection& connection, RunId run, const std::string& name,
                             int32_t rank, StepRange range, size_t max_points);

/// Every sample of the series over `range`, ascending, straight from its chunks.
void read_samples(Connection& connection, RunId run, const std::string& name, int32_t rank,
                  StepRange range, const TakeSamples& take);

/// The same by the name that a page asks for: see Reader::series.
std::vector<Bin> read_chart(Connection& connection, RunId run, const std::string& name,
                            int32_t rank, StepRange range, size_t max_points);
void read_chart_samples(Connection& connection, RunId run, const std::string& name, int32_t rank,
                        StepRange range, const TakeSamples& take);

}  // namespace heddle::storage
