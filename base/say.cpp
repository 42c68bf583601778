#include "base/say.h"

#include <algorithm>

#include "base/utf8.h"

namespace heddle {
namespace {

/// The code point at the start of valid UTF-8.
char32_t code_point(std::string_view text) {
  const size_t length = character_length(text);
  const auto lead = static_cast<unsigned char>(text.front());
  if (length == 1) return lead;
  char32_t point = lead & (0xFFU >> (length + 1));
  for (size_t i = 1; i < length; ++i) point = point << 6 | (text[i] & 0x3FU);
  return point;
}

bool acts_on_terminals(char32_t point) {
  if (point < 0x20) return point != '\n' && point != '\t';
  if (point >= 0x7F && point <= 0x9F) return true;
  const bool embeds = point >= 0x202A && point <= 0x202E;  // and overrides, Unicode 3.11
  const bool isolates = point >= 0x2066 && point <= 0x2069;
  return embeds || isolates || point == 0x200E || point == 0x200F || point == 0x061C;
}

}  // namespace

std::string printable(std::string_view bytes) {
  const std::string valid = valid_utf8(bytes);
  std::string text;
  text.reserve(valid.size());
  for (std::string_view rest = valid; !rest.empty();) {
    const size_t length = character_length(rest);
    const char32_t point = code_point(rest);
    if (acts_on_terminals(point)) {
      text += fmt::format("\\u{:04x}", static_cast<uint32_t>(point));
    } else {
      text += rest.substr(0, length);
    }
    rest.remove_prefix(length);
  }
  return text;
}

}  // namespace heddle
