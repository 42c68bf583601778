// SHA-256 as lower-case hex, as sha256sum prints it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace heddle::remote {

std::string sha256(std::string_view bytes);

/// ssh names sockets by it (%C); for nothing else.
std::string sha1(std::string_view bytes);

/// The hash of a file's content. `on_bytes` (may be empty) gets the bytes of each piece read;
/// false stops.
Result<std::string> sha256_of_file(const std::string& path,
                                   const std::function<bool(uint64_t)>& on_bytes = {});

}  // namespace heddle::remote
