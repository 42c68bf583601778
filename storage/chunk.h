// A stretch of one series in one blob: 1,024 samples at level 0, 256 bins at the levels above,
// which are written again more often. A bin of level n sums up 16 items of level n − 1; 16 divides
// a chunk, so no bin crosses two chunks.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/queries.h"

namespace heddle::storage {

inline constexpr size_t kChunkSamples = 1024;
inline constexpr size_t kChunkBins = 256;
inline constexpr size_t items_of_chunk(int64_t level) {
  return level > 0 ? kChunkBins : kChunkSamples;
}
inline constexpr size_t kFanOut = 16;

/// Beyond this no step is one: sums of steps stay far from overflowing.
inline constexpr int64_t kLastStep = int64_t{1} << 53;

/// A sample as the bin that holds it alone.
Bin bin_of(const Sample& sample);

/// Neighbouring bins (at least one) in one.
Bin merged(std::span<const Bin> bins);

/// See number_column.h: steps that are evenly spaced take next to nothing.
std::string pack(std::span<const Bin> items, int64_t level);
/// Nothing unless the bytes are `pack`'s result for growing steps from 0 to kLastStep.
std::vector<Bin> unpack(std::string_view data, int64_t level);

/// At most `max_points` bins: neighbours merged, evenly by number of samples.
std::vector<Bin> thinned(std::vector<Bin> bins, size_t max_points);

}  // namespace heddle::storage
