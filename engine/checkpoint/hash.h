// XXH3-128 of bytes, as 32 hexadecimal digits.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace heddle::checkpoint {

inline constexpr size_t kHashDigits = 32;

std::string hash_of(std::span<const std::byte> bytes);
inline std::string hash_of(std::string_view text) {
  return hash_of(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace heddle::checkpoint
