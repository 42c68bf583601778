// Step records in columns: a stretch of a log, read from a table. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"

namespace heddle::storage {

struct StepColumns {
  /// A metric's values: values[i] belongs to steps[rows[i]]; rows ascend.
  struct Metric {
    std::string name;
    std::vector<uint32_t> rows;
    std::vector<double> values;
  };
  uint64_t first_seq = 0;       // the first record's sequence number
  std::vector<int64_t> steps;   // growing, from 0 to kLastStep
  std::vector<double> times;    // Unix seconds, one a step; 0: unknown
  std::vector<Metric> metrics;  // by name, each with some values
};

/// A part of a log: frames of telemetry records, or step records in columns.
using LogPart = std::variant<std::string, StepColumns>;
bool is_empty(const LogPart& part);

/// The records in the columns, as in their log.
struct ColumnRecords {
  std::vector<uint64_t> checksums;  // of the frames, by step
  uint64_t bytes = 0;               // of all frames
  std::vector<uint32_t> sets;       // by step: one of `names`
  std::vector<std::vector<std::string>>
      names;  // the series that have samples in such a record, sorted by name
};
/// Fails if steps do not grow or a record is too large.
Result<ColumnRecords> records_of(const StepColumns& columns);

/// The same records as frames.
Result<std::string> frames_of(const StepColumns& columns);

}  // namespace heddle::storage
