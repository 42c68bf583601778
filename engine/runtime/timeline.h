// The spans of one profiled step, on the compute and the communication stream.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/telemetry/record.h"

namespace heddle::runtime {

/// Collects the spans of one step; times are microseconds since it began. One thread.
class Timeline {
 public:
  void add(telemetry::Span span) { spans_.push_back(std::move(span)); }

  /// All spans so far, by start.
  std::vector<telemetry::Span> take();

 private:
  std::vector<telemetry::Span> spans_;
};

/// Seconds for which the compute stream is idle.
struct Unhidden {
  double exposed = 0;  // communication runs, or ranks of the same stage have yet to reach it
  double bubble = 0;   // another pipeline stage has
};
Unhidden unhidden(const std::vector<telemetry::Span>& spans);

}  // namespace heddle::runtime
