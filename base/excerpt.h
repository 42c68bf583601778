// Words of a program or file from outside, within a message of ours.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace heddle {

/// The text, or its first `most` bytes and how many there are of it.
inline std::string excerpt(std::string_view text, size_t most = 2000) {
  if (text.size() <= most) return std::string(text);
  // Not in the middle of a character.
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return fmt::format("{} … ({} bytes in all)", text.substr(0, most), text.size());
}

}  // namespace heddle
