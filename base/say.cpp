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
  const auto within = [&](char32_t first, char32_t last) {
    return point >= first && point <= last;
  };
  if (point < 0x20) return point != '\n' && point != '\t';
  if (within(0x7F, 0x9F)) return true;
  // Line and paragraph separators; embeddings, overrides and isolates (Unicode 3.11); marks.
  if (within(0x2028, 0x202E) || within(0x2066, 0x206F) || within(0x200E, 0x200F)) return true;
  // Unseen characters make two names look alike; the joiners of scripts and emoji stay.
  return point == 0x061C || point == 0x200B || within(0x2060, 0x2064) || point == 0xFEFF ||
         within(0xFFF9, 0xFFFB) || within(0xE0000, 0xE007F);
}

/// As JSON writes it: beyond the first 65,536 as two surrogates.
std::string spelled_out(char32_t point) {
  const auto number = static_cast<uint32_t>(point);
  if (number < 0x10000) return fmt::format("\\u{:04x}", number);
  const uint32_t beyond = number - 0x10000;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (beyond >> 10), 0xDC00 + (beyond & 0x3FF));
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
      text += spelled_out(point);
    } else {
      text += rest.substr(0, length);
    }
    rest.remove_prefix(length);
  }
  return text;
}

}  // namespace heddle
