// A seeded order that needs no memory.
#pragma once

#include <cstdint>

namespace heddle::data {

/// Where a permutation of [0, size) that `seed` and `epoch` determine sends `index`: the same on
/// every machine. A Feistel network over the next even power of two, walked until it lands below
/// `size`.
uint64_t shuffled(uint64_t index, uint64_t size, uint64_t seed, uint64_t epoch);

}  // namespace heddle::data
