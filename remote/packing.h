// Bytes on their way to a host, compressed where that gets them there sooner: where the line takes
// fewer bytes than compressing gives, and they get smaller. Threads: one at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::remote {

class Packing {
 public:
  using Clock = std::chrono::steady_clock;

  /// Bytes to try to compress together, for the host one program.
  static constexpr uint64_t kPiece = 1 << 20;

  /// `bytes` more are handed over; those before have taken since then to be accepted.
  void hand_over(uint64_t bytes);
  /// Between two of these, time does not count as the line's.
  void begin_work() { work_begun_ = Clock::now(); }
  void end_work() { worked_ += Clock::now() - work_begun_; }

  /// Whether the next bytes are worth trying.
  bool pays() const;
  /// As gzip; empty where they do not get smaller, which is remembered for a while.
  std::string pack(std::string_view bytes);

 private:
  // Of the last bytes that the line has accepted.
  double line_bytes_ = 0, line_seconds_ = 0;
  uint64_t handed_ = 0, since_ = 0;  // in all; in the piece under way
  Clock::time_point handed_at_{}, work_begun_{};
  Clock::duration worked_{0};
  // Of the last piece that was packed. At first: a slow core, a library.
  double bytes_per_second_ = 50e6, share_ = 0.4;
  uint64_t not_before_ = 0;  // of what is handed over
};

}  // namespace heddle::remote
