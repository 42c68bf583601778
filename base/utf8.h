// Text from outside: which of its bytes are UTF-8, and UTF-8 made of any bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heddle {

/// The length of the well-formed UTF-8 (Unicode, table 3-7) at the start of `bytes`.
size_t valid_utf8_prefix(std::string_view bytes);

/// The same text where it is UTF-8, with U+FFFD in place of each byte that is not: what goes into
/// JSON, the store and the window.
std::string valid_utf8(std::string_view bytes);

/// The length of the character at the start of well-formed UTF-8 text that is not empty.
inline size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

}  // namespace heddle
