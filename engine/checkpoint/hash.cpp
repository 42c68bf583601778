#include "engine/checkpoint/hash.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace heddle::checkpoint {

std::string hash_of(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace heddle::checkpoint
