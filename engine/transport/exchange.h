// Runs one collective on one rank: waits until all ranks have come, compares what they want, moves
// the data, and waits until nobody reads from this rank any more.
#pragma once

#include <atomic>
#include <optional>
#include <stdexcept>
#include <vector>

#include "engine/transport/meeting.h"
#include "engine/transport/operation.h"

namespace heddle::transport {

/// Another rank has given up: its error is in the store.
struct PeerFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One thread, the transport's.
class Exchange {
 public:
  /// `stop`: set, it ends all waiting with an error.
  Exchange(Meeting& meeting, int rank, int size, const GroupOptions& options,
           const std::atomic<bool>& stop);

  /// Throws std::exception: a rank that wants another collective, lags, or is gone.
  void run(Operation& operation, RemoteTraffic& traffic);

  /// How long the others are waited for, from the next collective on. Any thread.
  void set_timeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }

 private:
  using Lists = std::vector<std::vector<Range>>;  // by rank

  void compare(const Operation& operation, const RemoteTraffic& traffic);
  void check_bytes(const Operation& operation, int peer, uint64_t offered, uint64_t expected) const;
  void wait_for_all(const Operation& operation, const RemoteTraffic& traffic,
                    std::atomic<uint32_t> ControlPage::*counter, uint32_t mark);
  void require(const Operation& operation, const RemoteTraffic& traffic, int peer,
               TcpPeers::Outcome outcome);
  bool is_remote(int peer) const;
  void read(const Operation& operation, int peer, const std::vector<Range>& from,
            const std::vector<Range>& to);
  Lists sources(const Operation& operation);
  void copy(const Operation& operation, int exchange, const Lists& sources, RemoteTraffic& traffic);
  void sum(const Operation& operation, const Lists& sources, RemoteTraffic& traffic);
  std::chrono::milliseconds left() const;
  [[noreturn]] void time_out(const Operation& operation, const RemoteTraffic& traffic);
  [[noreturn]] void gone(const Operation& operation, int peer);
  int run_rank(int rank) const;
  const ControlPage* page_of(int rank) const;

  Meeting& meeting_;
  const int rank_, size_;
  const GroupOptions& options_;
  const std::atomic<bool>& stop_;
  const int spins_;
  std::vector<std::optional<Descriptor>> latest_;  // by rank: what it was last seen in
  std::vector<std::byte> rows_;                    // chunks of the peers' rows, about to be summed
  std::atomic<std::chrono::milliseconds> timeout_;
  std::chrono::milliseconds limit_{};  // of the collective that runs
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace heddle::transport
