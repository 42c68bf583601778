#include "storage/value_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "engine/recipe/text.h"
#include "engine/telemetry/metrics.h"
#include "storage/queries.h"

namespace heddle::storage {
namespace {

constexpr int kMaxMoreDigits = 12;

/// As many digits as `same` compares: 8.999999999999999e-4 is 9e-4.
constexpr int kDigits = 9;

/// A recipe's value without the quotes of its string, or the noise in its last digits.
std::string word_text(const std::string& words) {
  if (words.size() > 2 && words.front() == '"' && words.back() == '"')
    return words.substr(1, words.size() - 2);
  const size_t mantissa = std::min(words.find_first_of("eE"), words.size());
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool is_long =
      std::count_if(words.begin(), words.begin() + static_cast<ptrdiff_t>(mantissa), is_digit) >
      kDigits;
  if (!is_long || words.find_first_of(".eE") == std::string::npos) return words;
  double value = 0;
  const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), value);
  if (error != std::errc() || end != words.data() + words.size()) return words;
  const std::string rounded = fmt::format("{:.{}e}", value, kDigits - 1);
  std::from_chars(rounded.data(), rounded.data() + rounded.size(), value);
  return recipe::number_text(value);
}

/// Whether two values that are not the same have the same text.
bool look_alike(const std::vector<std::string>& texts,
                const std::vector<std::optional<Value>>& values) {
  std::map<std::string, size_t> seen;
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto [first, is_new] = seen.emplace(texts[i], i);
    if (!is_new && !same(values[first->second], values[i])) return true;
  }
  return false;
}

}  // namespace

std::string value_text(const std::string& name, const Value& value, int more) {
  if (const auto* number = std::get_if<double>(&value))
    return telemetry::value_text(name, *number, more);
  return word_text(std::get<std::string>(value));
}

std::vector<std::string> value_texts(const std::string& name,
                                     const std::vector<std::optional<Value>>& values,
                                     const std::string& none) {
  std::vector<std::string> texts(values.size());
  for (int more = 0; more <= kMaxMoreDigits; ++more) {
    for (size_t i = 0; i < values.size(); ++i)
      texts[i] = values[i] ? value_text(name, *values[i], more) : none;
    if (!look_alike(texts, values)) break;
  }
  return texts;
}

}  // namespace heddle::storage
