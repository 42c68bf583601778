// The telemetry logs of a run directory, read as they grow and put in order of time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/telemetry/log_reader.h"

namespace heddle::launch {

/// Whose log a file is: "rank-3.0.hlog" or "supervisor.0.hlog".
struct LogName {
  int32_t rank = telemetry::kSupervisorRank;
  int32_t epoch = 0;
  auto operator<=>(const LogName&) const = default;
};

/// Parses a file's name; nothing for any other.
std::optional<LogName> log_name(const std::string& file);
std::string file_of(const LogName& log);

struct LogEntry {
  LogName log;
  double time = 0;
  telemetry::Record record;
};

/// Used by one thread at a time.
class RunLogs {
 public:
  /// Which records are wanted; the others are not even decoded.
  using Wanted = std::function<bool(const LogName& log, telemetry::Type type)>;

  RunLogs(std::string run_dir, Wanted wanted);

  /// Visits what has been written since the last call, in order of time; within a log in its own
  /// order. A record that is not whole yet comes with a later call. Holds one record a log
  /// in memory. An error: the directory, or a log in it, cannot be read.
  Result<> read(const std::function<void(const LogEntry& entry)>& visit);

  /// The logs that the last `read` found.
  std::vector<LogName> logs() const;

 private:
  struct Log {
    telemetry::LogReader reader;
    double time = 0;  // of its newest record
    std::optional<LogEntry> front;
  };

  Result<> find_logs();
  /// Fills `front` with the log's next record that is wanted, if there is one.
  Result<> advance(const LogName& name, Log& log);

  std::string run_dir_;
  Wanted wanted_;
  std::map<LogName, Log> logs_;
};

}  // namespace heddle::launch
