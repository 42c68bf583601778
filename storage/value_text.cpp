#include "storage/value_text.h"

#include <map>

#include "engine/telemetry/metrics.h"
#include "storage/queries.h"

namespace heddle::storage {
namespace {

constexpr int kMaxMoreDigits = 12;

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
  return std::get<std::string>(value);
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
