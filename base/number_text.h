// Numbers as a terminal shows them: plain text, units always included, bytes binary.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>

namespace heddle {

inline std::string bytes_text(double bytes) {  // 77.0 GiB
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (std::abs(bytes) >= 1024 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, units[unit]);
}

inline std::string count_text(double count) {  // 6,667
  const std::string digits = fmt::format("{:.0f}", std::abs(count));
  std::string text = count < 0 ? "-" : "";
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

inline std::string rate_text(double tokens_per_second) {  // 6,667 tok/s
  return count_text(tokens_per_second) + " tok/s";
}

inline std::string seconds_text(double seconds) {  // 708 ms, 4.50 s, 25.5 min, 2.31 h
  const double size = std::abs(seconds);
  if (size < 1) return fmt::format("{:.3g} ms", seconds * 1000);
  if (size < 10) return fmt::format("{:.2f} s", seconds);
  if (size < 100) return fmt::format("{:.1f} s", seconds);
  if (size < 7200) return fmt::format("{:.1f} min", seconds / 60);
  if (size < 2 * 86400) return fmt::format("{:.2f} h", seconds / 3600);
  return fmt::format("{:.1f} d", seconds / 86400);
}

inline std::string loss_text(double loss) { return fmt::format("{:.3f}", loss); }  // 3.981

}  // namespace heddle
