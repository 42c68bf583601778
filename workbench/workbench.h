// A store that is being worked with: what a window, or a command that waits, keeps open.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "storage/writer.h"
#include "workbench/follower.h"
#include "workbench/scheduler.h"

namespace heddle::workbench {

class Workbench {
 public:
  /// Opens (or makes) the store and starts following its runs and starting those that wait.
  /// `changed`: see Follower::Changed.
  static Result<std::unique_ptr<Workbench>> open(const std::string& store_path,
                                                 Follower::Changed changed = {});

  const std::string& store_path() const { return store_path_; }
  /// For launch, control, targets and import; any thread.
  storage::Writer& writer() { return *writer_; }
  /// Whether the store was made by this `open`.
  bool is_new() const { return is_new_; }

 private:
  Workbench(std::string store_path, bool is_new, std::unique_ptr<storage::Writer> writer,
            Follower::Changed changed);

  std::string store_path_;
  bool is_new_;
  std::unique_ptr<storage::Writer> writer_;
  Follower follower_;
  Scheduler scheduler_;
};

/// The name and tag of the run that ships with Heddle.
inline constexpr const char* kSampleRun = "sample";

/// Takes the finished run that ships with Heddle into a store that this workbench has made. Without
/// the ingest lease (another workbench has it) nothing is done.
Result<> import_sample_run(Workbench& workbench);

}  // namespace heddle::workbench
