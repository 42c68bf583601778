// Sizes in bytes as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::recipe {

/// "60 GiB", "512MiB", "1.5 TiB", "4096" (bytes) to bytes; none if it is no size. Units are binary:
/// B, KiB, MiB, GiB, TiB.
std::optional<int64_t> parse_bytes(std::string_view text);

/// Bytes in the largest unit that loses nothing: 64424509440 is "60 GiB". parse_bytes gives it
/// back.
std::string format_bytes(int64_t bytes);

}  // namespace heddle::recipe
