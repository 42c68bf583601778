// Watches a group whose collectives run on a device, where no host thread waits for each: a stall
// is seen, every rank tells how far it is through the store, and the error names who disagrees or
// lags.
//
// Thread contract: one thread of its own; the public functions from any.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "engine/transport/journal.h"
#include "engine/transport/meeting.h"

namespace heddle::transport {

class Watchdog {
 public:
  /// The store is the group's, not used by any other thread; the journal outlives this. `aborts` is
  /// called once, on the watchdog's thread, with error() when that is set: it ends what hangs.
  /// `fault` says what the transport itself has found wrong meanwhile: empty if nothing.
  Watchdog(c10::intrusive_ptr<c10d::Store> store, int rank, int size, GroupOptions options,
           const Journal& journal, std::function<void(const std::string& error)> aborts,
           std::function<std::string()> fault = {});
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// The group's failure: a collective that had not ended after options.timeout, here or
  /// on another rank. Text as engine/transport/report gives it.
  std::optional<std::string> error() const;

  /// Instead of options.timeout from now on.
  void set_timeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }
  std::chrono::milliseconds timeout() const { return timeout_; }

 private:
  void run();
  void end(const std::string& error);
  bool stalls(std::chrono::steady_clock::time_point now);
  std::string examine();
  int run_rank(int rank) const { return options_.ranks.empty() ? rank : options_.ranks[rank]; }

  c10::intrusive_ptr<c10d::Store> store_;
  int rank_, size_;
  GroupOptions options_;
  const Journal& journal_;
  std::function<void(const std::string& error)> aborts_;
  std::function<std::string()> fault_;
  std::atomic<std::chrono::milliseconds> timeout_;

  // Only the watchdog's thread uses these.
  uint64_t seen_ended_ = 0;
  std::optional<std::chrono::steady_clock::time_point> stalled_since_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::optional<std::string> error_;
  std::thread thread_;
};

}  // namespace heddle::transport
