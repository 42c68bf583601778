// Brings what runs write on their hosts into the store, for as long as it lives.
//
// It waits for the ingest lease, then follows every unfinished run of the store, those that others
// launch included. A lost connection is tried again with growing pauses; after a crash it goes on
// from the store's cursors, so nothing is missing or doubled.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "storage/writer.h"

namespace heddle::workbench {

class Follower {
 public:
  /// Called from the follower's threads after a run's rows have changed; must not block.
  using Changed = std::function<void(storage::RunId)>;

  /// `writer` and the store outlive the follower.
  Follower(std::string store_path, storage::Writer& writer, Changed changed = {});
  /// Ends all following; runs go on without it.
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

 private:
  class Manager;
  std::unique_ptr<Manager> manager_;
};

}  // namespace heddle::workbench
