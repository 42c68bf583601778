#include "engine/data/shuffle.h"

#include <xxhash.h>

#include <array>
#include <bit>

namespace heddle::data {

constexpr uint64_t kRounds = 6;

uint64_t shuffled(uint64_t index, uint64_t size, uint64_t seed, uint64_t epoch) {
  const int half_bits = (static_cast<int>(std::bit_width(size - 1)) + 1) / 2;
  const uint64_t mask = (uint64_t{1} << half_bits) - 1;
  do {
    uint64_t left = index >> half_bits;
    uint64_t right = index & mask;
    for (uint64_t round = 0; round < kRounds; ++round) {
      const std::array<uint64_t, 3> key = {epoch, round, right};
      const uint64_t mixed = left ^ (XXH3_64bits_withSeed(key.data(), sizeof(key), seed) & mask);
      left = right;
      right = mixed;
    }
    index = left << half_bits | right;
  } while (index >= size);
  return index;
}

}  // namespace heddle::data
