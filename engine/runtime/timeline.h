// The spans of one profiled step, on the compute and the communication stream.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "engine/telemetry/record.h"

namespace heddle::runtime {

/// Collects the spans of one step; times are microseconds since it began. One thread.
class Timeline {
 public:
  using Clock = std::chrono::steady_clock;
  int64_t at_us(Clock::time_point time) const {
    return std::chrono::duration_cast<std::chrono::microseconds>(time - begin_).count();
  }
  int64_t now_us() const { return at_us(Clock::now()); }

  void add(telemetry::Span span) { spans_.push_back(std::move(span)); }

  /// All spans so far, by start.
  std::vector<telemetry::Span> take();

 private:
  Clock::time_point begin_ = Clock::now();
  std::vector<telemetry::Span> spans_;
};

/// Seconds of communication during which the compute stream does nothing.
double exposed_seconds(const std::vector<telemetry::Span>& spans);

}  // namespace heddle::runtime
