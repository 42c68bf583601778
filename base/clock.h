// How long something has taken, and what time it is.
#pragma once

#include <chrono>

namespace heddle {

/// The clock that durations are measured by; it never jumps.
using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Seconds since the Unix epoch.
inline double unix_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace heddle
