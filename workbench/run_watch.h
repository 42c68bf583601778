// Watches a run that is being followed: what its new steps give reason to warn of becomes lines of
// its log. One thread at a time.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "storage/queries.h"
#include "storage/writer.h"
#include "workbench/alerts.h"
#include "workbench/place.h"

namespace heddle::workbench {

class RunWatch {
 public:
  /// `said` is called with each alert, on the thread that looks.
  RunWatch(std::string store_path, storage::Writer& writer, storage::RunId run, const Place& place,
           std::function<void(const Alert&)> said = {});

  /// Before the first new record comes in: what the store has is not news. A store that cannot be
  /// read is tried again.
  void begin();
  /// Looks at what came in since; at most every two seconds unless it is the `last` time. Returns
  /// whether lines were added.
  bool look(bool last = false);

 private:
  Result<> start();
  Result<> read_news();
  void take_facts(const storage::RunDetail& run);
  Result<> read_memory(int64_t newest);
  Result<std::optional<double>> newest_bytes(const char* metric, int32_t rank, int64_t newest);
  void read_rules();
  template <typename Take>
  Result<int64_t> each_sample(const char* metric, storage::StepRange range, Take take);

  std::string store_path_;
  storage::Writer& writer_;
  storage::RunId run_;
  const Place& place_;
  std::function<void(const Alert&)> said_;
  std::optional<storage::Reader> reader_;
  std::vector<int32_t> ranks_;
  std::optional<double> host_bytes_;  // memory of each host; 0: not known
  double gpu_bytes_ = 0;              // of each GPU; 0: the ranks have none
  bool begun_ = false;
  int64_t step_ = 0;       // the last one seen
  int64_t last_step_ = 0;  // of the recipe; 0: not known. No other follows it
  Clock::time_point looked_{}, came_ = Clock::now();
  std::filesystem::file_time_type rules_time_{};
  AlertWatch alerts_;
  std::vector<storage::LogLine> lines_;
};

}  // namespace heddle::workbench
