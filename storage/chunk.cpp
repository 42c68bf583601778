#include "storage/chunk.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace heddle::storage {
namespace {

// Level 0: count u32, evenly spaced u32, then first step and stride, or all steps; then the values.
static_assert(sizeof(Bin) == 56, "bins are stored as they are in memory: no padding");

struct SamplesHeader {
  uint32_t count = 0;
  uint32_t even = 0;
};

template <typename T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
T take(std::string_view& bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  bytes.remove_prefix(std::min(sizeof value, bytes.size()));
  return value;
}

std::string pack_samples(std::span<const Bin> samples) {
  const int64_t first = samples.front().last_step;
  const int64_t stride = samples.size() > 1 ? samples[1].last_step - first : 1;
  bool even = true;
  for (size_t i = 0; i < samples.size(); ++i) {
    even = even && samples[i].last_step == first + static_cast<int64_t>(i) * stride;
  }
  std::string bytes;
  append(bytes, SamplesHeader{static_cast<uint32_t>(samples.size()), even});
  if (even) {
    append(bytes, first);
    append(bytes, stride);
  } else {
    for (const Bin& sample : samples) append(bytes, sample.last_step);
  }
  for (const Bin& sample : samples) append(bytes, sample.last);
  return bytes;
}

/// Whether the bins are such as are written here: each of some samples, their steps growing.
bool are_sound(std::span<const Bin> bins) {
  int64_t before = -1;
  for (const Bin& bin : bins) {
    if (bin.first_step <= before || bin.last_step < bin.first_step || bin.last_step > kLastStep ||
        bin.count == 0 || bin.nonfinite > bin.count)
      return false;
    before = bin.last_step;
  }
  return bins.size() <= kChunkItems;
}

std::vector<Bin> unpack_samples(std::string_view bytes) {
  if (bytes.size() < sizeof(SamplesHeader)) return {};
  const auto header = take<SamplesHeader>(bytes);
  const size_t sample_bytes = header.even ? sizeof(double) : sizeof(int64_t) + sizeof(double);
  const size_t place_bytes = header.even ? 2 * sizeof(int64_t) : 0;
  if (header.count > kChunkItems || bytes.size() != place_bytes + header.count * sample_bytes)
    return {};
  std::vector<int64_t> steps(header.count);
  if (header.even) {
    const auto first = take<int64_t>(bytes);
    const auto stride = take<int64_t>(bytes);
    // So that the sums below can be made.
    if (first < 0 || first > kLastStep || stride < 0) return {};
    if (header.count > 1 && stride > (kLastStep - first) / (header.count - 1)) return {};
    for (size_t i = 0; i < steps.size(); ++i) steps[i] = first + static_cast<int64_t>(i) * stride;
  } else {
    for (int64_t& step : steps) step = take<int64_t>(bytes);
  }
  std::vector<Bin> samples;
  samples.reserve(steps.size());
  for (const int64_t step : steps) samples.push_back(bin_of({step, take<double>(bytes)}));
  return samples;
}

}  // namespace

Bin bin_of(const Sample& sample) {
  const bool finite = std::isfinite(sample.value);
  const double extent = finite ? sample.value : std::numeric_limits<double>::quiet_NaN();
  return {sample.step, sample.step, extent, extent, extent, sample.value, 1, !finite};
}

Bin merged(std::span<const Bin> bins) {
  Bin whole = bins.front();
  double sum = 0;
  uint32_t finite = 0;
  whole.count = whole.nonfinite = 0;
  for (const Bin& bin : bins) {
    whole.min = std::fmin(whole.min, bin.min);
    whole.max = std::fmax(whole.max, bin.max);
    const uint32_t inside = bin.count - bin.nonfinite;
    if (inside > 0) sum += bin.mean * inside;
    finite += inside;
    whole.count += bin.count;
    whole.nonfinite += bin.nonfinite;
  }
  whole.mean = finite > 0 ? sum / finite : std::numeric_limits<double>::quiet_NaN();
  whole.last_step = bins.back().last_step;
  whole.last = bins.back().last;
  return whole;
}

std::string pack(std::span<const Bin> items, int64_t level) {
  if (level == 0) return pack_samples(items);
  return {reinterpret_cast<const char*>(items.data()), items.size_bytes()};
}

std::vector<Bin> unpack(std::string_view data, int64_t level) {
  std::vector<Bin> bins;
  if (level == 0) {
    bins = unpack_samples(data);
  } else if (data.size() % sizeof(Bin) == 0 && data.size() <= kChunkItems * sizeof(Bin)) {
    bins.resize(data.size() / sizeof(Bin));
    if (!bins.empty()) std::memcpy(bins.data(), data.data(), data.size());
  }
  return are_sound(bins) ? bins : std::vector<Bin>{};
}

std::vector<Bin> thinned(std::vector<Bin> bins, size_t max_points) {
  if (bins.size() <= max_points || max_points == 0) return bins;
  uint64_t total = 0;
  for (const Bin& bin : bins) total += bin.count;
  std::vector<Bin> thin;
  uint64_t before = 0;
  for (size_t i = 0; i < bins.size();) {
    const uint64_t slot = before * max_points / total;
    const size_t begin = i;
    do {
      before += bins[i++].count;
    } while (i < bins.size() && before * max_points / total == slot);
    thin.push_back(merged(std::span(bins).subspan(begin, i - begin)));
  }
  return thin;
}

}  // namespace heddle::storage
