#include "engine/recipe/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace heddle::recipe {
namespace {

constexpr std::array<std::pair<std::string_view, int64_t>, 5> kUnits = {{
    {"TiB", int64_t{1} << 40},
    {"GiB", int64_t{1} << 30},
    {"MiB", int64_t{1} << 20},
    {"KiB", int64_t{1} << 10},
    {"B", 1},
}};

}  // namespace

std::optional<int64_t> parse_bytes(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  if (unit.empty()) unit = "B";
  for (const auto& [name, size] : kUnits) {
    if (name != unit) continue;
    const double bytes = std::round(number * static_cast<double>(size));
    if (bytes >= 9.2e18) return std::nullopt;
    return static_cast<int64_t>(bytes);
  }
  return std::nullopt;
}

std::string format_bytes(int64_t bytes) {
  for (const auto& [name, size] : kUnits) {
    if (bytes != 0 && bytes % size == 0) return fmt::format("{} {}", bytes / size, name);
  }
  return fmt::format("{} B", bytes);
}

}  // namespace heddle::recipe
