// Telemetry bytes to rows, exactly once. Lives in the writer's thread; every call runs inside the
// writer's transaction, so that rows and cursor are committed together or not at all.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/telemetry/log_reader.h"
#include "storage/connection.h"
#include "storage/curve.h"
#include "storage/run_metrics.h"
#include "storage/series.h"
#include "storage/step_columns.h"
#include "storage/writer.h"

namespace heddle::storage {

/// The metrics whose curves a run's row has.
inline constexpr const char *kLoss = "loss", *kThroughput = "tokens_per_second";

class Ingestor {
 public:
  explicit Ingestor(Connection& connection) : connection_(connection), metrics_(connection) {}

  Result<Ingested> ingest(const LogKey& log, uint64_t offset, std::string_view bytes);
  /// Appends to a log.
  Result<Ingested> append(const LogKey& log, std::string_view frames);
  Result<Ingested> append(const LogKey& log, const StepColumns& columns,
                          const ColumnRecords& records);
  Result<Ingested> end_log(const LogKey& log);
  Result<uint64_t> cursor(const LogKey& log);

  /// Whether records were compacted since the last call.
  bool take_compacted() { return std::exchange(compacted_, false); }

  /// Call after a rollback: uncommitted bytes are read again from the cursor.
  void forget() {
    open_.clear();
    metrics_.forget();
  }
  /// Call before a run is removed.
  void forget(RunId run);

 private:
  struct OpenLog {
    telemetry::LogReader reader;
    uint64_t next_seq = 0;
    int64_t new_steps = 0;  // in the bytes being ingested
  };
  Result<OpenLog*> open(const LogKey& log);
  Result<Ingested> take(const LogKey& log, OpenLog& open);
  bool add_frame(const LogKey& log, OpenLog& open, const telemetry::Frame& frame);
  void add_gap(const LogKey& log, const telemetry::Gap& gap);
  void warn(const LogKey& log, telemetry::Level level, std::string text);
  void apply(const LogKey& log, int64_t record, const telemetry::Record& content);
  void apply_start(const LogKey& log, const telemetry::Start& start);
  void apply_end(const LogKey& log, const telemetry::End& end);
  void apply_plan(const LogKey& log, const telemetry::Plan& plan);
  /// Warns once a run, whichever process ingests it.
  void warn_of_series(const LogKey& log);
  void update_summary(const LogKey& log);
  void add_blocks(const LogKey& log, const StepColumns& columns, const ColumnRecords& records);

  /// Rank 0's steps that are being ingested, as far as the run's row shows them.
  struct NewSteps {
    std::optional<int64_t> last;
    std::vector<Sample> loss, throughput;
  };

  Connection& connection_;
  std::map<LogKey, OpenLog> open_;
  RunMetrics metrics_;
  NewSteps new_steps_;
  bool compacted_ = false;
};

}  // namespace heddle::storage
