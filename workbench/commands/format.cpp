#include "workbench/commands/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace heddle::workbench {
namespace {

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
  return quantity_text(name, std::get<double>(value));
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
