// Whole numbers of JSON from outside, which may be larger than what they are meant for, and what is
// refused in it. Any thread.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/json_text.h"
#include "base/result.h"

namespace heddle {

/// For what is JSON or CBOR, but not what it is meant for. Throws nlohmann::json::exception.
[[noreturn]] inline void refuse_json(const nlohmann::json& value, const std::string& what) {
  throw nlohmann::json::other_error::create(501, what, &value);
}

/// The value as a T. Throws nlohmann::json::exception, as `get` does for another type, where it is
/// no whole number or one that a T does not hold (which `get` would cut).
template <std::integral T>
T whole(const nlohmann::json& value) {
  if (value.is_number_unsigned()) {
    if (const auto number = value.get<uint64_t>(); std::in_range<T>(number))
      return static_cast<T>(number);
  } else if (value.is_number_integer()) {
    if (const auto number = value.get<int64_t>(); std::in_range<T>(number))
      return static_cast<T>(number);
  }
  const std::string what = value.is_number() ? json_text(value) : value.type_name();
  throw nlohmann::json::out_of_range::create(
      406,
      fmt::format("{} is no whole number from {} to {}", what, std::numeric_limits<T>::min(),
                  std::numeric_limits<T>::max()),
      &value);
}

/// A member of an object as a T; `fallback` where it has none of that name.
template <std::integral T>
T whole_or(const nlohmann::json& object, const char* key, T fallback) {
  const auto found = object.find(key);
  return found == object.end() ? fallback : whole<T>(*found);
}

}  // namespace heddle
