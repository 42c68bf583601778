// A port of the loopback that leads to another one and takes its time: each byte arrives `delay`
// after it was sent, as over a long line. Counts the bytes, and can be cut.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/socket.h"

namespace heddle::test {

class SlowLink {
 public:
  /// `delay`: one way. `bytes_per_second`: outwards; 0: any number.
  SlowLink(uint16_t to, std::chrono::microseconds delay, uint64_t bytes_per_second = 0);
  ~SlowLink();

  uint16_t port() const { return listener_.port(); }
  /// Bytes that have gone towards the far port, over all connections.
  uint64_t sent() const { return sent_; }
  /// Every connection breaks at once, at both ends; new ones are taken.
  void cut();

 private:
  struct Line;
  void accept_all();
  void carry(Line& line, bool out);

  const uint16_t to_;
  const std::chrono::microseconds delay_;
  const uint64_t bytes_per_second_;
  Socket listener_;
  std::atomic<uint64_t> sent_{0};
  std::atomic<bool> ending_{false};
  std::mutex mutex_;  // of what follows
  std::vector<std::unique_ptr<Line>> lines_;
  std::thread accepting_;
};

}  // namespace heddle::test
