// Numbers as people read them: plain text, units always included, bytes binary. NaN and infinity
// appear by name, without a unit.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

namespace heddle {

/// "NaN", "∞" or "-∞"; empty for a number that is finite.
inline std::string not_finite_text(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-∞" : "∞";
  return {};
}

/// So many significant digits, trailing zeros kept: 4.11, 0.0412, 4.12e-5; 0 is "0".
inline std::string digits_text(double number, int digits = 3) {
  if (!std::isfinite(number)) return not_finite_text(number);
  if (number == 0) return "0";
  std::string text = fmt::format("{:#.{}g}", number, digits);
  if (text.ends_with('.')) text.pop_back();
  // e-05 as e-5, e+20 as e20
  if (const size_t e = text.find('e'); e != std::string::npos) {
    const bool negative = text[e + 1] == '-';
    const size_t first = text.find_first_not_of("+-0", e + 1);
    text = text.substr(0, e + 1) + (negative ? "-" : "") + text.substr(first);
  }
  return text;
}

inline std::string bytes_text(double bytes) {  // 77.0 GiB
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  if (!std::isfinite(bytes)) return not_finite_text(bytes);
  size_t unit = 0;
  // One that would be rounded to 1024.0 is 1.0 of the next.
  while (std::abs(bytes) >= (unit == 0 ? 1023.5 : 1023.95) && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  // + 0.0: no number is -0.
  if (unit == 0) return fmt::format("{:.0f} B", std::round(bytes) + 0.0);
  return fmt::format("{:.1f} {}", bytes, units[unit]);
}

inline std::string count_text(double count) {  // 6,667
  if (!std::isfinite(count)) return not_finite_text(count);
  if (std::abs(count) >= 1e15) return digits_text(count, 4);
  const std::string digits = fmt::format("{:.0f}", std::abs(count));
  std::string text = count < 0 && digits != "0" ? "-" : "";
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

inline std::string rate_text(double tokens_per_second) {  // 6,667 tok/s; 0.0412 tok/s
  if (!std::isfinite(tokens_per_second)) return not_finite_text(tokens_per_second);
  const bool slow = std::abs(tokens_per_second) < 9.995;
  return (slow ? digits_text(tokens_per_second) : count_text(tokens_per_second)) + " tok/s";
}

inline std::string seconds_text(double seconds) {  // 708 ms, 4.50 s, 25.5 min, 2.31 h
  const double size = std::abs(seconds);
  if (!std::isfinite(seconds)) return not_finite_text(seconds);
  if (size < 0.9995) return fmt::format("{:.3g} ms", seconds * 1000 + 0.0);
  if (size < 9.995) return fmt::format("{:.2f} s", seconds);
  if (size < 99.95) return fmt::format("{:.1f} s", seconds);
  if (size < 7200) return fmt::format("{:.1f} min", seconds / 60);
  if (size < 2 * 86400) return fmt::format("{:.2f} h", seconds / 3600);
  if (size < 86400e5) return fmt::format("{:.1f} d", seconds / 86400);
  return digits_text(seconds / 86400) + " d";
}

/// 3.981, 12.345; below 0.1 three significant digits (0.0412, 0.000403), from 100,000 on four.
inline std::string loss_text(double loss) {
  const double size = std::abs(loss);
  if (size != 0 && (size < 0.0995 || size >= 99'999.5)) return digits_text(loss, size < 1 ? 3 : 4);
  return std::isfinite(loss) ? fmt::format("{:.3f}", size == 0 ? 0.0 : loss)
                             : not_finite_text(loss);
}

/// A number of a run in the unit that its name ends with: "peak_bytes" in GiB, "step_seconds" in s,
/// "last_loss" as a loss; others as a count or with five digits.
inline std::string quantity_text(std::string_view name, double number) {
  if (!std::isfinite(number)) return not_finite_text(number);
  if (name.ends_with("bytes")) return bytes_text(number);
  if (name.ends_with("seconds")) return seconds_text(number);
  if (name.find("tokens_per_second") != std::string_view::npos) return rate_text(number);
  if (name.ends_with("loss")) return loss_text(number);
  if (number == std::floor(number)) return count_text(number);
  return fmt::format("{:.5g}", number);
}

}  // namespace heddle
