// The halvings of a store's groups: reads how the runs did at each rung, asks the worst to stop and
// writes each decision into the run's log. One thread.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/result.h"
#include "storage/queries.h"
#include "storage/writer.h"
#include "workbench/halving.h"

namespace heddle::workbench {

class GroupHalving {
 public:
  GroupHalving(std::string store_path, storage::Writer& writer)
      : store_path_(std::move(store_path)), writer_(writer) {}

  /// Looks at all groups that have rungs and runs that are going on.
  Result<> look(storage::Reader& reader);

 private:
  Result<> look_at(storage::Reader& reader, const std::string& group,
                   const storage::Halving& halving);
  Result<double> value_at(storage::Reader& reader, storage::RunId run, const std::string& metric,
                          int64_t step);
  Result<> carry_out(storage::Reader& reader, const RungDecision& decision);

  using RunAndStep = std::pair<storage::RunId, int64_t>;

  std::string store_path_;
  storage::Writer& writer_;
  std::map<RunAndStep, double> values_;  // a run that is past a rung does not change there
  std::map<RunAndStep, bool> decided_;   // and whether it was to stop
  std::map<storage::RunId, std::chrono::steady_clock::time_point> asked_;  // when to stop
};

}  // namespace heddle::workbench
