// Prefixes of units.
#pragma once

namespace heddle::cost {

inline constexpr double kMicro = 1e-6, kMilli = 1e-3, kGiga = 1e9, kTera = 1e12;
inline constexpr double kGiB = 1 << 30;

}  // namespace heddle::cost
