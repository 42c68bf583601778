// The metrics of the runs that are being ingested: their series' rows and summaries. Lives in the
// writer's thread, inside its transaction. Throws SQLite::Exception.
#pragma once

#include <map>
#include <string>

#include "engine/telemetry/record.h"
#include "storage/connection.h"
#include "storage/metric_summary.h"
#include "storage/series.h"
#include "storage/step_columns.h"

namespace heddle::storage {

/// A run has some dozens; people import runs with some thousands. One holds the times.
inline constexpr size_t kMaxSeries = 10'000;
inline constexpr size_t kMaxNameBytes = 256;

/// A series' row of `metric_summaries`.
struct KeptMetric {
  int64_t id = 0;  // its row of `metrics`; 0: not looked up yet
  int32_t rank = 0;
  int32_t epoch = 0;
  MetricSummary summary;
  bool changed = false;
  bool outdated = false;  // a later attempt repeats steps, or logs come out of order
};

class RunMetrics {
 public:
  explicit RunMetrics(Connection& connection) : connection_(connection) {}

  /// Takes in a step that has its row in `records` already. False, once a run: a metric gets no
  /// series, because its name is too long or taken, or there are too many.
  bool add(const LogKey& log, const telemetry::Step& step);
  /// The same for a log's columns. Call only if `has_room`: all of them get series.
  void add(const LogKey& log, const StepColumns& columns);
  bool has_room(RunId run, const StepColumns& columns);
  /// Writes the run's summaries that have changed.
  void save(RunId run);

  /// Call after a rollback.
  void forget() { runs_.clear(); }
  /// Call before a run is removed.
  void forget(RunId run) { runs_.erase(run); }

 private:
  struct Run {
    std::map<std::string, KeptMetric> metrics;  // that have a series
    bool refused = false;                       // another got none
  };
  Run& open(RunId run);
  std::map<std::string, KeptMetric>::iterator make_series(Run& run, RunId id,
                                                          const std::string& name);
  static void take(KeptMetric& metric, const LogKey& log, int64_t step, double value);

  Connection& connection_;
  std::map<RunId, Run> runs_;  // that have had a step here
};

/// Reads the summaries of all runs out of their series: for a store that has none yet.
void fill_metric_summaries(Connection& connection);

}  // namespace heddle::storage
