// The handle of a collective under way, which knows when its transfer really began and ended.
#pragma once

#include <chrono>
#include <torch/csrc/distributed/c10d/Work.hpp>

namespace heddle::transport {

/// wait() blocks until the collective has ended and throws its error; the future ends just before.
class TimedWork : public c10d::Work {
 public:
  using Clock = std::chrono::steady_clock;

  TimedWork(int rank, c10d::OpType type, uint64_t sequence);

  /// When every rank had come and data began to flow, and when this rank's part and all reading
  /// from it was over. Valid once wait() has returned.
  Clock::time_point began() const { return began_; }
  Clock::time_point ended() const { return ended_; }

  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }
  uint64_t getSequencenumber() const override { return sequence_; }

  /// Called by the transport.
  void begin() { began_ = Clock::now(); }
  void succeed();
  void fail(const std::exception_ptr& error);

 private:
  uint64_t sequence_;
  Clock::time_point began_, ended_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

}  // namespace heddle::transport
