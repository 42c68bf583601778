#include "workbench/filter_dates.h"

#include <array>
#include <charconv>
#include <cmath>
#include <ctime>
#include <string>
#include <vector>

namespace heddle::workbench {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {
    "january", "february", "march",     "april",   "may",      "june",
    "july",    "august",   "september", "october", "november", "december"};

struct Day {
  int year, month, day;  // month: 1 to 12
};

std::optional<int> whole_in(std::string_view text) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (text.empty() || read.ec != std::errc() || read.ptr != end || value < 0) return std::nullopt;
  return value;
}

std::vector<std::string_view> parts_of(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::tm local(double time) {
  const auto seconds = static_cast<std::time_t>(std::floor(time));
  std::tm parts{};
  localtime_r(&seconds, &parts);
  return parts;
}

/// Unix seconds; none: there is no such day.
std::optional<double> moment(const Day& day, int hour = 0, int minute = 0, int second = 0) {
  std::tm parts{};
  parts.tm_year = day.year - 1900;
  parts.tm_mon = day.month - 1;
  parts.tm_mday = day.day;
  parts.tm_hour = hour;
  parts.tm_min = minute;
  parts.tm_sec = second;
  parts.tm_isdst = -1;
  const std::time_t time = std::mktime(&parts);
  if (time == -1 || parts.tm_mon != day.month - 1 || parts.tm_mday != day.day) return std::nullopt;
  return static_cast<double>(time);
}

/// The day so many days after.
Day shifted(Day day, int days) {
  std::tm parts{};
  parts.tm_year = day.year - 1900;
  parts.tm_mon = day.month - 1;
  parts.tm_mday = day.day + days;
  parts.tm_hour = 12;
  parts.tm_isdst = -1;
  std::mktime(&parts);
  return {parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday};
}

std::optional<int> month_called(std::string_view name) {
  for (size_t month = 0; month < kMonths.size(); ++month)
    if (name == kMonths[month] || name == kMonths[month].substr(0, 3))
      return static_cast<int>(month) + 1;
  return std::nullopt;
}

std::optional<Day> read_day(std::string_view text, const Day& today) {
  if (text == "today") return today;
  if (text == "yesterday") return shifted(today, -1);
  if (const auto dashed = parts_of(text, '-'); dashed.size() == 3 && dashed[0].size() == 4) {
    const auto year = whole_in(dashed[0]), month = whole_in(dashed[1]), day = whole_in(dashed[2]);
    if (year && month && day) return Day{*year, *month, *day};
    return std::nullopt;
  }
  const auto words = parts_of(text, ' ');
  if (words.size() < 2 || words.size() > 3) return std::nullopt;
  const auto day = whole_in(words[0]), month = month_called(words[1]);
  const auto year = words.size() == 3 ? whole_in(words[2]) : std::optional(today.year);
  if (!day || !month || !year) return std::nullopt;
  return Day{*year, *month, *day};
}

std::optional<TimeStretch> read_time(const Day& day, std::string_view text) {
  const auto parts = parts_of(text, ':');
  if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
  const auto hour = whole_in(parts[0]), minute = whole_in(parts[1]);
  const auto second = parts.size() == 3 ? whole_in(parts[2]) : std::optional(0);
  if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 59)
    return std::nullopt;
  const auto from = moment(day, *hour, *minute, *second);
  if (!from) return std::nullopt;
  return TimeStretch{*from, *from + (parts.size() == 3 ? 1 : 60)};
}

/// "17 min ago", "17 min", "2d".
std::optional<TimeStretch> read_ago(std::string_view text, double now) {
  const bool moment = !text.ends_with(" ago");  // that is as the table writes it, a whole minute
  if (!moment) text.remove_suffix(4);
  size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  const auto count = whole_in(text.substr(0, digits));
  std::string_view unit = text.substr(digits);
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  const int seconds = unit == "s"     ? 1
                      : unit == "min" ? 60
                      : unit == "h"   ? 3600
                      : unit == "d"   ? 86400
                      : unit == "w"   ? 7 * 86400
                                      : 0;
  if (!count || seconds == 0 || *count > 1'000'000) return std::nullopt;
  const double ago = static_cast<double>(*count) * seconds;
  return TimeStretch{now - ago - seconds, now - ago, moment};
}

}  // namespace

std::optional<TimeStretch> read_date(std::string_view typed, double now) {
  std::string text(typed);
  for (char& c : text) {
    if (c == 'T') c = ' ';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (text == "now") return TimeStretch{now - 60, now + 1};
  if (const auto ago = read_ago(text, now)) return ago;
  const std::tm parts = local(now);
  const Day today{parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday};
  if (const auto day = read_day(text, today)) {
    const auto from = moment(*day);
    const auto until = from ? moment(shifted(*day, 1)) : std::nullopt;
    if (!until) return std::nullopt;
    return TimeStretch{*from, *until};
  }
  const size_t blank = text.rfind(' ');
  if (blank == std::string::npos) return std::nullopt;
  const auto day = read_day(std::string_view(text).substr(0, blank), today);
  return day ? read_time(*day, std::string_view(text).substr(blank + 1)) : std::nullopt;
}

}  // namespace heddle::workbench
