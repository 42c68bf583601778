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

/// Seconds during which the compute stream does nothing for communication: while it runs, and while
/// other ranks have yet to come to it.
double exposed_seconds(const std::vector<telemetry::Span>& spans);

}  // namespace heddle::runtime
