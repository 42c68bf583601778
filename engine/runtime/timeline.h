// The spans of one profiled step, on the compute and the communication stream, and its memory.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/telemetry/record.h"

namespace heddle::runtime {

/// The bytes in use when a node of the planned graph had been called.
struct MemorySample {
  int32_t node = 0;
  int64_t bytes = 0;
};

/// Collects the spans of one step; times are microseconds since it began. One thread.
class Timeline {
 public:
  void add(telemetry::Span span) { spans_.push_back(std::move(span)); }

  /// By node.
  void set_memory(std::vector<MemorySample> samples) { memory_ = std::move(samples); }

  /// All spans so far, by start.
  std::vector<telemetry::Span> take();
  const std::vector<MemorySample>& memory() const { return memory_; }

 private:
  std::vector<telemetry::Span> spans_;
  std::vector<MemorySample> memory_;
};

/// Seconds for which the compute stream is idle.
struct Unhidden {
  double exposed = 0;  // communication runs, or ranks of the same stage have yet to reach it
  double bubble = 0;   // another pipeline stage has
};
Unhidden unhidden(const std::vector<telemetry::Span>& spans);

}  // namespace heddle::runtime
