// How SSH writes texts: four bytes of length, then the text (RFC 4251, 5).
#pragma once

#include <string>
#include <string_view>

namespace heddle::remote {

/// The first four bytes as a number.
inline size_t wire_number(std::string_view bytes) {
  size_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// The text with its length in front, taken off; empty when there is less.
inline std::string_view take_text(std::string_view& bytes) {
  if (bytes.size() < 4 || wire_number(bytes) > bytes.size() - 4) return bytes = {};
  const std::string_view text = bytes.substr(4, wire_number(bytes));
  bytes.remove_prefix(4 + text.size());
  return text;
}

inline std::string wire_number_of(size_t value) {
  std::string bytes(4, '\0');
  for (int i = 0; i < 4; ++i) bytes[i] = static_cast<char>(value >> (8 * (3 - i)));
  return bytes;
}

inline std::string wire_text(std::string_view text) {
  return wire_number_of(text.size()) + std::string(text);
}

}  // namespace heddle::remote
