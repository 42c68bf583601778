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

/// Samples in columns, as in a chunk of level 0.
struct SampleColumns {
  std::vector<int64_t> steps;
  std::vector<double> values;

  bool empty() const { return steps.empty(); }
  size_t size() const { return steps.size(); }
  void add(int64_t step, double value) {
    steps.push_back(step);
    values.push_back(value);
  }
  void clear() {
    steps.clear();
    values.clear();
  }
};

/// A sample as the bin that holds it alone.
Bin bin_of(const Sample& sample);

/// Neighbouring bins (at least one) in one.
Bin merged(std::span<const Bin> bins);
/// Neighbouring samples (at least one) as one bin.
Bin merged(std::span<const int64_t> steps, std::span<const double> values);

/// See number_column.h: steps that are evenly spaced take next to nothing.
std::string pack(std::span<const Bin> items, int64_t level);
std::string pack(std::span<const int64_t> steps, std::span<const double> values);
/// Nothing unless the bytes are `pack`'s result for growing steps from 0 to kLastStep.
std::vector<Bin> unpack(std::string_view data, int64_t level);
/// The same for level 0, in columns.
void unpack(std::string_view data, SampleColumns& samples);

/// At most `max_points` bins: neighbours merged, evenly by number of samples.
std::vector<Bin> thinned(std::vector<Bin> bins, size_t max_points);

}  // namespace heddle::storage
