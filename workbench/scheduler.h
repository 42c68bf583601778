// Starts the runs of a store's queue, one after another for each target, and stops the worst runs
// of sweeps that are halved: for as long as it lives and its writer has the ingest lease. All that
// it knows is in the store, so the next process goes on where it ends.
#pragma once

#include <memory>
#include <string>

#include "storage/writer.h"
#include "workbench/follower.h"

namespace heddle::workbench {

class Scheduler {
 public:
  /// `writer` and the store outlive the scheduler.
  Scheduler(std::string store_path, storage::Writer& writer, Follower::Changed changed = {});
  /// Runs that are just being started stay in the queue unless their ranks begin already.
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

 private:
  class Manager;
  std::unique_ptr<Manager> manager_;
};

}  // namespace heddle::workbench
