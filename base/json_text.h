// JSON as text, whatever bytes are in it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace heddle {

/// The value as one line, or indented; U+FFFD in place of bytes that are no UTF-8, which
/// nlohmann's dump() answers with an exception.
template <typename Json>
std::string json_text(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace heddle
