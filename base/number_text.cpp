#include "base/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "base/time_units.h"

namespace heddle {
namespace {

std::string not_finite_text(double number) {
  if (std::isnan(number)) return "NaN";
  return number < 0 ? "−∞" : "∞";
}

/// With so many decimals, thousands apart; no number is -0.
std::string fixed_text(double number, int decimals) {
  const std::string digits = fmt::format("{:.{}f}", std::abs(number), decimals);
  const bool is_zero = digits.find_first_not_of("0.") == std::string::npos;
  std::string text = number < 0 && !is_zero ? "-" : "";
  const size_t whole = std::min(digits.find('.'), digits.size());
  for (size_t i = 0; i < whole; ++i) {
    if (i > 0 && (whole - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text + digits.substr(whole);
}

/// 4.12e-5, 1.235e9.
std::string exponent_text(double number, int digits) {
  std::string text = fmt::format("{:.{}e}", number, digits - 1);
  const size_t e = text.find('e');
  const std::string sign = text[e + 1] == '-' ? "-" : "";
  return text.substr(0, e + 1) + sign + text.substr(text.find_first_not_of("+-0", e + 1));
}

/// Three significant digits for 1 <= |number| < 1000, none dropped, and `more`.
std::string three_digits(double number, int more) {
  const double size = std::abs(number);
  return fixed_text(number, (size < 9.995 ? 2 : size < 99.95 ? 1 : 0) + more);
}

/// A number below 1000 of the first unit is whole.
std::string in_units(double number, double each, std::span<const char* const> units, int more) {
  if (!std::isfinite(number)) return not_finite_text(number);
  size_t unit = 0;
  for (; std::abs(number) >= 999.5 && unit + 1 < units.size(); ++unit) number /= each;
  return (unit == 0 ? fixed_text(number, 0) : three_digits(number, more)) + units[unit];
}

std::string unknown_text(double number, int more) {
  if (std::isfinite(number) && number == std::floor(number) && std::abs(number) < 1e15)
    return count_text(number);
  return significant_text(number, 4 + more);
}

}  // namespace

std::string bytes_text(double bytes, int more) {
  constexpr const char* kUnits[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB"};
  return in_units(bytes, 1024, kUnits, more);
}

std::string short_count_text(double count, int more) {
  constexpr const char* kUnits[] = {"", " k", " M", " B", " T"};
  return in_units(count, 1000, kUnits, more);
}

std::string count_text(double count) {
  if (!std::isfinite(count)) return not_finite_text(count);
  return std::abs(count) >= 1e15 ? significant_text(count, 4) : fixed_text(count, 0);
}

std::string rate_text(double tokens_per_second, int more) {
  if (!std::isfinite(tokens_per_second)) return not_finite_text(tokens_per_second);
  const bool is_slow = std::abs(tokens_per_second) < 0.9995;
  return (is_slow ? significant_text(tokens_per_second, 3 + more)
                  : three_digits(tokens_per_second, more)) +
         " tok/s";
}

std::string seconds_text(double seconds, int more) {
  if (!std::isfinite(seconds)) return not_finite_text(seconds);
  if (seconds == 0) return "0 s";
  const auto* unit = std::ranges::find_if(
      kTimeUnits, [&](const TimeUnit& each) { return std::abs(seconds) >= each.from; });
  return three_digits(seconds / unit->seconds, more) + " " + unit->name;
}

std::string share_text(double fraction, int more) {
  if (!std::isfinite(fraction)) return not_finite_text(fraction);
  return fmt::format("{:.{}f} %", fraction * 100, 1 + more);
}

std::string loss_text(double loss, int more) {
  const double size = std::abs(loss);
  if (size >= 99'999.5 || std::isnan(size)) return significant_text(loss, 4 + more);
  if (size == 0 || size >= 0.0995) return fixed_text(loss, 3 + more);
  // The exponent as it is after rounding: 0.00999996 is 0.0100.
  const std::string rounded = fmt::format("{:.{}e}", size, 2 + more);
  const int exponent = std::stoi(rounded.substr(rounded.find('e') + 1));
  return exponent < -4 ? significant_text(loss, 3 + more) : fixed_text(loss, 2 + more - exponent);
}

std::string significant_text(double value, int digits) {
  if (!std::isfinite(value)) return not_finite_text(value);
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size < 1e-3 || size >= 1e7) return exponent_text(value, digits);
  const int magnitude = static_cast<int>(std::floor(std::log10(size)));
  return fixed_text(value, std::max(0, digits - 1 - magnitude));
}

std::string unit_text(Unit unit, double value, int more) {
  switch (unit) {
    case Unit::number:
      return significant_text(value, 3 + more);
    case Unit::count:
      return count_text(value);
    case Unit::loss:
      return loss_text(value, more);
    case Unit::bytes:
      return bytes_text(value, more);
    case Unit::tokens_per_second:
      return rate_text(value, more);
    case Unit::tokens:
      return short_count_text(value, more);
    case Unit::seconds:
      return seconds_text(value, more);
    case Unit::share:
      return share_text(value, more);
    case Unit::unknown:
      break;
  }
  return unknown_text(value, more);
}

}  // namespace heddle
