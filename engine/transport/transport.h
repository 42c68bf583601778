// A group's collectives, one after the other, on a thread of the group's own.
//
// Thread contract: `submit` from one thread at a time, in the same order on every rank.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "engine/transport/exchange.h"
#include "engine/transport/meeting.h"

namespace heddle::transport {

class Transport {
 public:
  /// Meets the other ranks. Throws c10::Error.
  Transport(c10::intrusive_ptr<c10d::Store> store, int rank, int size, GroupOptions options);
  /// Ends what is under way with an error.
  ~Transport();

  /// Starts a collective whose sources, targets and tensors are set. After an error of the group
  /// every work fails at once with that error.
  c10::intrusive_ptr<TimedWork> submit(std::unique_ptr<Operation> operation);

  /// As Exchange's.
  void set_timeout(std::chrono::milliseconds timeout) { exchange_.set_timeout(timeout); }

  /// "memory", "memory + tcp" or "tcp".
  std::string name() const;
  /// Whose parts of a sum come over TCP: the most that any rank has.
  int remote_ranks() const { return meeting_.remote_ranks; }
  const std::string& warning() const { return meeting_.warning; }
  uint64_t submitted() const { return next_; }

 private:
  struct UnderWay {
    std::unique_ptr<Operation> operation;
    RemoteTraffic traffic;
  };

  void loop();
  void fail(const std::string& cause, bool of_peer);
  std::string first_error(const std::string& cause, bool of_peer);

  c10::intrusive_ptr<c10d::Store> store_;
  const int rank_;
  const GroupOptions options_;
  Meeting meeting_;
  std::atomic<bool> stop_{false};
  Exchange exchange_;
  uint64_t next_ = 0;  // the caller's

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<UnderWay> under_way_;  // the first one runs
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace heddle::transport
