#include "workbench/commands/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

namespace heddle::workbench {
namespace {

bool ends_with(const std::string& name, const char* ending) {
  const std::string_view view(ending);
  return name.size() >= view.size() && name.ends_with(view);
}

/// Characters, not bytes.
size_t width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

std::string bytes_text(double bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (std::abs(bytes) >= 1024 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, units[unit]);
}

std::string count_text(double count) {
  const std::string digits = fmt::format("{:.0f}", std::abs(count));
  std::string text = count < 0 ? "-" : "";
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string rate_text(double tokens_per_second) { return count_text(tokens_per_second) + " tok/s"; }

std::string seconds_text(double seconds) {
  if (std::abs(seconds) < 1) return fmt::format("{:.3g} ms", seconds * 1000);
  if (std::abs(seconds) < 100) return fmt::format("{:.2f} s", seconds);
  return fmt::format("{:.1f} min", seconds / 60);
}

std::string time_text(double unix_seconds) {
  const auto seconds = static_cast<time_t>(unix_seconds);
  tm local{};
  localtime_r(&seconds, &local);
  char text[32];
  return {text, strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &local)};
}

std::string loss_text(double loss) { return fmt::format("{:.3f}", loss); }

std::string value_text(const std::string& name, const storage::Value& value) {
  if (const auto* words = std::get_if<std::string>(&value)) return *words;
  const double number = std::get<double>(value);
  if (!std::isfinite(number)) return fmt::format("{}", number);
  if (ends_with(name, "bytes")) return bytes_text(number);
  if (ends_with(name, "seconds")) return seconds_text(number);
  if (name.find("tokens_per_second") != std::string::npos) return rate_text(number);
  if (number == std::floor(number)) return count_text(number);
  return fmt::format("{:.5g}", number);
}

std::string table(const std::vector<std::vector<std::string>>& rows,
                  const std::vector<size_t>& right) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - width(row[i]), ' ');
      const bool is_right = std::find(right.begin(), right.end(), i) != right.end();
      if (i > 0) line += "  ";
      if (is_right) line += pad;
      line += row[i];
      if (!is_right) line += pad;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace heddle::workbench
