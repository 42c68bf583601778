// Parts of a tokenizer.json, which may lack any of them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace heddle::data {

// Ids index a table: a damaged file must not ask for all of the memory.
inline constexpr int32_t kMaxTokens = 1 << 22;

inline bool is_id(const nlohmann::json& value) {
  return value.is_number_integer() && value >= 0 && value < kMaxTokens;
}

/// A member of an object; null where there is none.
inline const nlohmann::json& member(const nlohmann::json& object, const char* key) {
  static const nlohmann::json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

inline std::string text_of(const nlohmann::json& part, const char* key) {
  const nlohmann::json& value = member(part, key);
  return value.is_string() ? value.get<std::string>() : "";
}

inline std::string type_of(const nlohmann::json& part) { return text_of(part, "type"); }

inline bool flag(const nlohmann::json& part, const char* key, bool fallback) {
  const nlohmann::json& value = member(part, key);
  return value.is_boolean() ? value.get<bool>() : fallback;
}

}  // namespace heddle::data
