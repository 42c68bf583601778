// The units of durations, the largest first: on axes and in words alike.
#pragma once

#include <array>

namespace heddle {

struct TimeUnit {
  double seconds;  // of one
  double from;     // seconds: a shorter time uses a smaller unit
  const char* name;
};

/// Minutes, hours and days begin at two of them: 90 s, 100 min and 36 h keep their digits.
inline constexpr std::array kTimeUnits = {
    TimeUnit{86400, 2 * 86400, "d"}, TimeUnit{3600, 2 * 3599.5, "h"},
    TimeUnit{60, 119.95, "min"},     TimeUnit{1, 0.9995, "s"},
    TimeUnit{1e-3, 9.995e-4, "ms"},  TimeUnit{1e-6, 9.995e-7, "µs"},
    TimeUnit{1e-9, 0, "ns"}};

}  // namespace heddle
