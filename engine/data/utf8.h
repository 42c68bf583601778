// Which part of a byte string is UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace heddle::data {

/// The length of the well-formed UTF-8 (Unicode, table 3-7) at the start of `bytes`.
size_t valid_utf8_prefix(std::string_view bytes);

/// The length of the character at the start of well-formed UTF-8 text that is not empty.
inline size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

}  // namespace heddle::data
