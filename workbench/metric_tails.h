// The last samples of a metric over all runs, summed up: what "mean(loss, 100)" is made of. Reads
// the ends of series alone, and of runs that have not changed since nothing.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "base/result.h"
#include "storage/queries.h"

namespace heddle::workbench {

/// Used by one thread at a time, with readers of one store.
class MetricTails {
 public:
  using Summaries = std::map<storage::RunId, storage::MetricSummary>;

  /// For each run that has the metric: its last `count` samples (all, where it has fewer).
  Result<Summaries> read(storage::Reader& reader, const std::string& metric, int64_t count);

 private:
  struct Tail {
    storage::MetricSummary whole;  // as it was when the tail was read
    storage::MetricSummary last;
  };
  std::map<std::pair<std::string, int64_t>, std::map<storage::RunId, Tail>> known_;
};

}  // namespace heddle::workbench
