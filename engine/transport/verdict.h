// The outcome of something that all ranks of a group try, and that each may fail at by itself.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "base/result.h"
#include "engine/transport/meeting.h"

namespace heddle::transport {

/// One thread, but for `told`; every rank of the group has one and asks it equally often.
class Verdict {
 public:
  /// The store is the group's, not used by any other thread.
  Verdict(c10::intrusive_ptr<c10d::Store> store, int rank, int size, const GroupOptions& options);

  /// Tells the others this rank's error, empty if it has none, and waits for theirs. The value is
  /// the same on all ranks: "" or the first rank's that has one, as "rank 3: no memory". An error
  /// names the ranks that have not told theirs in time. Throws as the store does.
  Result<std::string> of_all(const std::string& error, std::chrono::milliseconds timeout);

  /// For one other thread: the error of the first rank that has told one in this rank's next
  /// round; empty if none has. Throws as the store does.
  std::string told();

 private:
  std::string key_of(size_t rank) const;
  std::string error_of(c10d::Store& store, size_t rank) const;

  c10::intrusive_ptr<c10d::Store> store_, other_store_;
  int rank_;
  std::vector<int> ranks_;  // of the run
  std::atomic<int> round_ = 0;
};

}  // namespace heddle::transport
