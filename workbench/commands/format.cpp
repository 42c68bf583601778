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

std::string time_text(double unix_seconds) {
  const auto seconds = static_cast<time_t>(unix_seconds);
  tm local{};
  localtime_r(&seconds, &local);
  char text[32];
  return {text, strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &local)};
}

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
