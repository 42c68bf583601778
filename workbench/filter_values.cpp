#include "workbench/filter_values.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "base/number_text.h"
#include "base/one_line.h"
#include "storage/value_text.h"
#include "workbench/filter_dates.h"

namespace heddle::workbench {
namespace {

using UnitFactor = std::pair<std::string_view, double>;

constexpr UnitFactor kCounts[] = {{"", 1},    {"k", 1e3}, {"K", 1e3},
                                  {"M", 1e6}, {"B", 1e9}, {"T", 1e12}};
constexpr UnitFactor kRates[] = {{"", 1}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}};
constexpr UnitFactor kBytes[] = {{"B", 1},        {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30},
                                 {"TiB", 0x1p40}, {"PiB", 0x1p50}, {"kB", 1e3},     {"MB", 1e6},
                                 {"GB", 1e9},     {"TB", 1e12}};
constexpr UnitFactor kSeconds[] = {{"s", 1},     {"ms", 1e-3}, {"µs", 1e-6}, {"us", 1e-6},
                                   {"ns", 1e-9}, {"min", 60},  {"h", 3600},  {"d", 86400}};
constexpr UnitFactor kShares[] = {{"%", 0.01}, {"", 1}};
/// A key whose kind nobody knows may have any unit that means one thing only.
constexpr UnitFactor kAny[] = {{"", 1},         {"k", 1e3},      {"K", 1e3},      {"M", 1e6},
                               {"B", 1e9},      {"T", 1e12},     {"KiB", 0x1p10}, {"MiB", 0x1p20},
                               {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"%", 0.01},     {"s", 1},
                               {"ms", 1e-3},    {"min", 60},     {"h", 3600},     {"d", 86400}};

std::span<const UnitFactor> units_of(KeyKind kind) {
  switch (kind) {
    case KeyKind::rate:
      return kRates;
    case KeyKind::bytes:
      return kBytes;
    case KeyKind::seconds:
      return kSeconds;
    case KeyKind::share:
      return kShares;
    case KeyKind::open:
      return kAny;
    default:
      return kCounts;
  }
}

/// Words that may follow a number: "1.5M tokens", "6,667 tok/s".
std::span<const std::string_view> nouns_of(KeyKind kind) {
  static constexpr std::string_view counts[] = {"tokens", "steps"};
  static constexpr std::string_view rates[] = {"tok/s", "tok/s a rank"};
  if (kind == KeyKind::count || kind == KeyKind::open) return counts;
  if (kind == KeyKind::rate) return rates;
  return {};
}

/// A minus sign as the table writes it.
constexpr std::string_view kMinus = "\u2212";

std::optional<double> not_finite(std::string_view text) {
  bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text.starts_with(kMinus)) negative = true, text.remove_prefix(kMinus.size());
  std::string name(text);
  std::ranges::transform(name, name.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (name != "inf" && name != "infinity" && name != "∞") return std::nullopt;
  return negative ? -std::numeric_limits<double>::infinity()
                  : std::numeric_limits<double>::infinity();
}

/// The number that the text begins with, and how long it is; "1,000" and "1_000" are 1000.
std::optional<std::pair<double, size_t>> leading_number(std::string_view text) {
  std::string digits;
  size_t at = 0;
  const auto sign = [&] {
    if (text.substr(at).starts_with(kMinus)) return digits += '-', at += kMinus.size(), void();
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) digits += text[at++];
  };
  const auto is_digit = [&](size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  sign();
  while (is_digit(at) ||
         (at > 0 && at < text.size() && (text[at] == ',' || text[at] == '_') && is_digit(at - 1))) {
    if (is_digit(at)) digits += text[at];
    ++at;
  }
  if (at < text.size() && text[at] == '.' && is_digit(at + 1)) {
    digits += text[at++];
    while (is_digit(at)) digits += text[at++];
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    size_t after = at + 1;
    if (after < text.size() && (text[after] == '-' || text[after] == '+')) ++after;
    if (text.substr(at + 1).starts_with(kMinus)) after = at + 1 + kMinus.size();
    if (is_digit(after)) {
      digits += 'e';
      ++at;
      sign();
      while (is_digit(at)) digits += text[at++];
    }
  }
  if (digits.starts_with('+')) digits.erase(0, 1);
  double value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return std::nullopt;
  return std::pair(value, at);
}

std::optional<double> read_number(KeyKind kind, std::string_view text) {
  if (const auto named = not_finite(text)) return named;
  const auto number = leading_number(text);
  if (!number) return std::nullopt;
  std::string_view unit = text.substr(number->second);
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const std::string_view noun : nouns_of(kind)) {
    if (unit == noun) unit = {};
    if (unit.ends_with(noun) && unit.size() > noun.size() + 1 &&
        unit[unit.size() - noun.size() - 1] == ' ')
      unit.remove_suffix(noun.size() + 1);
  }
  const auto units = units_of(kind);
  const auto factor = std::ranges::find(units, unit, &UnitFactor::first);
  if (factor == units.end()) return std::nullopt;
  // Without its sign a share is a fraction: 5 could be meant as either.
  if (kind == KeyKind::share && unit.empty() && std::abs(number->first) >= 1) return std::nullopt;
  return number->first * factor->second;
}

}  // namespace

std::string number_text(KeyKind kind, double number) {
  switch (kind) {
    case KeyKind::loss:
      return unit_text(Unit::loss, number);
    case KeyKind::bytes:
      return unit_text(Unit::bytes, number);
    case KeyKind::seconds:
      return unit_text(Unit::seconds, number);
    case KeyKind::share:
      return unit_text(Unit::share, number);
    case KeyKind::count:
    case KeyKind::rate:
      return unit_text(Unit::count, number);
    default:
      return fmt::format("{:.9g}", number);
  }
}

std::string words_in(KeyKind kind, const storage::Value& value) {
  if (const double* number = std::get_if<double>(&value)) return number_text(kind, *number);
  std::string text = one_line(std::get<std::string>(value));
  if (text.size() > 2 && text.starts_with('"') && text.ends_with('"'))
    return text.substr(1, text.size() - 2);  // a TOML string's
  return text;
}

std::vector<std::string> state_names() {
  using enum storage::RunState;
  std::vector<std::string> names;
  for (const auto state : {queued, preparing, waiting, running, done, failed, stopped, lost})
    names.push_back(storage::to_string(state));
  return names;
}

std::optional<WantedValue> read_value(KeyKind kind, std::string_view text, double now) {
  WantedValue value{
      .text = std::string(text), .number = {}, .from = {}, .until = {}, .moment = false};
  if (kind == KeyKind::words || kind == KeyKind::state || kind == KeyKind::list) return value;
  if (kind == KeyKind::flag) {
    const bool yes = text == "yes" || text == "true";
    if (!yes && text != "no" && text != "false") return std::nullopt;
    value.text = yes ? "yes" : "no";
    return value;
  }
  if (kind == KeyKind::date) {
    const auto stretch = read_date(text, now);
    if (!stretch) return std::nullopt;
    value.from = stretch->from;
    value.until = stretch->until;
    value.moment = stretch->moment;
    return value;
  }
  value.number = read_number(kind, text);
  if (!value.number && kind != KeyKind::open) return std::nullopt;
  return value;
}

std::string example_of(KeyKind kind) {
  switch (kind) {
    case KeyKind::state:
      return fmt::format("one of {}", fmt::join(state_names(), ", "));
    case KeyKind::flag:
      return "yes or no";
    case KeyKind::bytes:
      return "an amount with its unit, as 1.2 GiB";
    case KeyKind::seconds:
      return "a duration with its unit, as 2 h or 45 s";
    case KeyKind::share:
      return "a percentage, as 5 %, or a fraction, as 0.05";
    case KeyKind::date:
      return "a date, as 2026-01-31, yesterday or 2d, which is two days ago";
    case KeyKind::words:
    case KeyKind::list:
      return "words";
    default:
      return "a number, as 1k, 3e-4 or nan";
  }
}

}  // namespace heddle::workbench
