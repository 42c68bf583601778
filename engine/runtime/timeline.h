// The spans of one profiled step, on the compute and the communication stream.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "engine/telemetry/record.h"

namespace heddle::runtime {

/// Microseconds since the step began. Copies show the same time; any thread.
class StepClock {
 public:
  int64_t now_us() const {
    return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};

/// Collects the spans of one step. One thread.
class Timeline {
 public:
  const StepClock& clock() const { return clock_; }
  int64_t now_us() const { return clock_.now_us(); }

  void add(telemetry::Span span) { spans_.push_back(std::move(span)); }

  /// All spans so far, by start.
  std::vector<telemetry::Span> take();

 private:
  StepClock clock_;
  std::vector<telemetry::Span> spans_;
};

/// Seconds of communication during which the compute stream does nothing.
double exposed_seconds(const std::vector<telemetry::Span>& spans);

}  // namespace heddle::runtime
