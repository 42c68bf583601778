#include "engine/data/byte_level.h"

#include <array>
#include <charconv>
#include <cstdint>

namespace heddle::data {
namespace {

constexpr uint16_t kCharacters =
    256 + 68;  // bytes that print stand for themselves, the other 68 follow

constexpr bool prints(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xFF && byte != 0xAD);
}

struct Alphabet {
  std::array<uint16_t, 256> character{};
  std::array<int16_t, kCharacters> byte{};
};

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  for (auto& byte : alphabet.byte) byte = -1;
  uint16_t next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    const uint16_t character = prints(byte) ? static_cast<uint16_t>(byte) : next++;
    alphabet.character[byte] = character;
    alphabet.byte[character] = static_cast<int16_t>(byte);
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

std::optional<std::string> bytes_of_spelling(std::string_view spelling) {
  std::string bytes;
  for (size_t i = 0; i < spelling.size(); ++i) {
    unsigned character = static_cast<unsigned char>(spelling[i]);
    if (character >= 0x80) {  // the alphabet ends below U+0800: two bytes of UTF-8 at most
      if ((character & 0xE0) != 0xC0 || i + 1 == spelling.size()) return std::nullopt;
      character = (character & 0x1F) << 6 | (static_cast<unsigned char>(spelling[++i]) & 0x3F);
    }
    if (character >= kCharacters || kAlphabet.byte[character] < 0) return std::nullopt;
    bytes += static_cast<char>(kAlphabet.byte[character]);
  }
  return bytes;
}

std::string spelling_of_byte(unsigned char byte) {
  const uint16_t character = kAlphabet.character[byte];
  if (character < 0x80) return std::string(1, static_cast<char>(character));
  return {static_cast<char>(0xC0 | character >> 6), static_cast<char>(0x80 | (character & 0x3F))};
}

std::string spelling_of_bytes(std::string_view bytes) {
  std::string spelling;
  spelling.reserve(2 * bytes.size());
  for (const char byte : bytes) spelling += spelling_of_byte(static_cast<unsigned char>(byte));
  return spelling;
}

std::optional<int> byte_of_fallback(std::string_view spelling) {
  if (spelling.size() != 6 || !spelling.starts_with("<0x") || !spelling.ends_with('>')) return {};
  int byte = 0;
  const auto [end, error] = std::from_chars(&spelling[3], &spelling[5], byte, 16);
  if (error != std::errc() || end != &spelling[5]) return {};
  return byte;
}

}  // namespace heddle::data
