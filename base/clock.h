// How long something has taken.
#pragma once

#include <chrono>

namespace heddle {

/// The clock that durations are measured by; it never jumps.
using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace heddle
