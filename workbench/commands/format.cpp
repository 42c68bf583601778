#include "workbench/commands/format.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <ctime>
#include <cwchar>

#include "base/one_line.h"

namespace heddle::workbench {
namespace {

/// For wcwidth and mbrtowc, in place of whatever locale the process has.
class Utf8Locale {
 public:
  Utf8Locale() : before_(uselocale(utf8())) {}
  ~Utf8Locale() { uselocale(before_); }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  static locale_t utf8() {
    static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return locale;
  }
  locale_t before_;
};

/// A character of UTF-8 text: its bytes and its columns.
struct Character {
  size_t bytes = 1;
  size_t columns = 1;
};

std::vector<Character> characters_of(const std::string& text) {
  const Utf8Locale utf8;
  std::vector<Character> characters;
  for (size_t at = 0; at < text.size();) {
    wchar_t wide = 0;
    mbstate_t state{};
    const size_t bytes = mbrtowc(&wide, text.data() + at, text.size() - at, &state);
    const bool valid = bytes != 0 && bytes <= text.size() - at;
    const int columns = valid ? wcwidth(wide) : 1;
    characters.push_back({valid ? bytes : 1, columns < 0 ? 1 : static_cast<size_t>(columns)});
    at += characters.back().bytes;
  }
  return characters;
}

/// A longer name is cut, wherever it is printed; what gives way most leaves the first column of
/// names, by which a row is known, some more.
constexpr size_t kMaxName = 64, kMinName = 8, kMinFirst = 14;

/// The columns' widths; columns of names shrink so that a row fits where it can.
std::vector<size_t> widths_of(const std::vector<std::vector<std::string>>& rows, const Fit& fit) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  for (const size_t name : fit.names) widths[name] = std::min(widths[name], kMaxName);
  size_t all = widths.empty() ? 0 : 2 * (widths.size() - 1);
  for (const size_t width : widths) all += width;
  const auto spare = [&](size_t name) {
    const size_t least = name == fit.names.front() ? kMinFirst : kMinName;
    return widths[name] > least ? widths[name] - least : 0;
  };
  for (; fit.columns > 0 && !fit.names.empty() && all > fit.columns; --all) {
    const size_t widest = *std::ranges::max_element(fit.names, {}, spare);
    if (spare(widest) == 0) break;
    --widths[widest];
  }
  return widths;
}

}  // namespace

std::string time_text(double unix_seconds) {
  const auto seconds = static_cast<time_t>(unix_seconds);
  tm local{};
  localtime_r(&seconds, &local);
  char text[32];
  return {text, strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &local)};
}

size_t width_of(const std::string& text) {
  size_t columns = 0;
  for (const Character& character : characters_of(text)) columns += character.columns;
  return columns;
}

std::string elided(const std::string& text, size_t columns) {
  if (width_of(text) <= columns) return text;
  const std::vector<Character> characters = characters_of(text);
  // The end distinguishes "debug-2" from "debug-3".
  const size_t room = columns - 1, for_end = room / 2;
  size_t begin = 0, end = 0, from = characters.size(), used = 0;
  while (from > 0 && used + characters[from - 1].columns <= for_end) {
    used += characters[--from].columns;
    end += characters[from].bytes;
  }
  for (size_t i = 0; i < from && used + characters[i].columns <= room; ++i) {
    used += characters[i].columns;
    begin += characters[i].bytes;
  }
  return text.substr(0, begin) + "…" + text.substr(text.size() - end);
}

size_t terminal_columns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* set = std::getenv("COLUMNS");
  return set ? static_cast<size_t>(std::max(0, std::atoi(set))) : 0;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string table(std::vector<std::vector<std::string>> rows, const std::vector<size_t>& right,
                  const Fit& fit) {
  for (auto& row : rows)
    for (std::string& cell : row) cell = one_line(cell);
  const std::vector<size_t> widths = widths_of(rows, fit);
  std::string text;
  for (auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string cell = elided(row[i], widths[i]);
      const std::string pad(widths[i] - width_of(cell), ' ');
      const bool is_right = std::find(right.begin(), right.end(), i) != right.end();
      if (i > 0) line += "  ";
      if (is_right) line += pad;
      line += cell;
      if (!is_right) line += pad;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace heddle::workbench
