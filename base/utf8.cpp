#include "base/utf8.h"

#include <cstdint>
#include <cstring>

namespace heddle {
namespace {

/// The length of the well-formed character of two bytes or more at `at`, or 0.
size_t multibyte_length(std::string_view bytes, size_t at) {
  const auto byte = [&](size_t i) -> unsigned {
    return at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0;
  };
  const auto continues = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned lead = byte(0);
  const unsigned second = byte(1);
  if (lead >= 0xC2 && lead <= 0xDF) return continues(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const bool overlong = lead == 0xE0 && second < 0xA0;
    const bool surrogate = lead == 0xED && second > 0x9F;
    return continues(1) && continues(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const bool overlong = lead == 0xF0 && second < 0x90;
    const bool beyond_unicode = lead == 0xF4 && second > 0x8F;
    return continues(1) && continues(2) && continues(3) && !overlong && !beyond_unicode ? 4 : 0;
  }
  return 0;
}

}  // namespace

size_t valid_utf8_prefix(std::string_view bytes) {
  size_t at = 0;
  while (at < bytes.size()) {
    uint64_t eight = 0;
    if (at + sizeof(eight) <= bytes.size()) {
      std::memcpy(&eight, bytes.data() + at, sizeof(eight));
      if ((eight & 0x8080808080808080U) == 0) {
        at += sizeof(eight);
        continue;
      }
    }
    if (static_cast<unsigned char>(bytes[at]) < 0x80) {
      ++at;
      continue;
    }
    const size_t length = multibyte_length(bytes, at);
    if (length == 0) break;
    at += length;
  }
  return at;
}

std::string valid_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (;;) {
    const size_t valid = valid_utf8_prefix(bytes);
    text += bytes.substr(0, valid);
    if (valid == bytes.size()) return text;
    text += "\uFFFD";
    bytes.remove_prefix(valid + 1);
  }
}

}  // namespace heddle
