#include "storage/chunk.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "storage/number_column.h"

namespace heddle::storage {
namespace {

// The number of items, then their columns: of samples the steps and values, of bins all members.

uint64_t word_of(double value) { return std::bit_cast<uint64_t>(value); }
uint64_t word_of(int64_t value) { return static_cast<uint64_t>(value); }
uint64_t word_of(uint32_t value) { return value; }

void set(double& value, uint64_t word) { value = std::bit_cast<double>(word); }
void set(int64_t& value, uint64_t word) { value = static_cast<int64_t>(word); }
void set(uint32_t& value, uint64_t word) { value = static_cast<uint32_t>(word); }

template <typename Member>
void put(std::string& bytes, std::span<const Bin> items, Member Bin::*member) {
  std::vector<uint64_t> words;
  words.reserve(items.size());
  for (const Bin& item : items) words.push_back(word_of(item.*member));
  put_numbers(bytes, words);
}

template <typename Member>
bool take(std::string_view& bytes, std::span<Bin> items, Member Bin::*member) {
  std::vector<uint64_t> words(items.size());
  if (!take_numbers(bytes, words)) return false;
  for (size_t i = 0; i < items.size(); ++i) set(items[i].*member, words[i]);
  return true;
}

/// Takes the number of items off the chunk's front; 0: not a chunk of that level.
size_t take_count(std::string_view& data, int64_t level) {
  uint32_t count = 0;
  if (data.size() < sizeof count) return 0;
  std::memcpy(&count, data.data(), sizeof count);
  data.remove_prefix(sizeof count);
  return count > items_of_chunk(level) ? 0 : count;
}

/// False unless `data` is a column of growing steps and one of values, each of that size.
bool take_samples(std::string_view data, SampleColumns& samples) {
  thread_local std::vector<uint64_t> words;
  words.resize(samples.size());
  if (!take_numbers(data, words)) return false;
  bool grow = words.front() <= static_cast<uint64_t>(kLastStep);
  for (size_t i = 1; i < words.size(); ++i) grow &= words[i - 1] < words[i];
  if (!grow || words.back() > static_cast<uint64_t>(kLastStep)) return false;
  std::ranges::copy(words, samples.steps.begin());
  if (!take_numbers(data, words) || !data.empty()) return false;
  std::memcpy(samples.values.data(), words.data(), words.size() * sizeof(uint64_t));
  return true;
}

bool take_bins(std::string_view& bytes, std::span<Bin> items) {
  return take(bytes, items, &Bin::first_step) && take(bytes, items, &Bin::last_step) &&
         take(bytes, items, &Bin::count) && take(bytes, items, &Bin::nonfinite) &&
         take(bytes, items, &Bin::min) && take(bytes, items, &Bin::max) &&
         take(bytes, items, &Bin::mean) && take(bytes, items, &Bin::last);
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
  return true;
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

Bin merged(std::span<const int64_t> steps, std::span<const double> values) {
  Bin whole{.first_step = steps.front(),
            .last_step = steps.back(),
            .min = std::numeric_limits<double>::quiet_NaN(),
            .max = std::numeric_limits<double>::quiet_NaN(),
            .mean = std::numeric_limits<double>::quiet_NaN(),
            .last = values.back(),
            .count = static_cast<uint32_t>(values.size()),
            .nonfinite = 0};
  double sum = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) {
      ++whole.nonfinite;
      continue;
    }
    if (!(whole.min <= value)) whole.min = value;
    if (!(whole.max >= value)) whole.max = value;
    sum += value;
  }
  if (const uint32_t finite = whole.count - whole.nonfinite; finite > 0) whole.mean = sum / finite;
  return whole;
}

std::string pack(std::span<const Bin> items, int64_t level) {
  if (level == 0) {
    SampleColumns samples;
    for (const Bin& item : items) samples.add(item.last_step, item.last);
    return pack(samples.steps, samples.values);
  }
  const auto count = static_cast<uint32_t>(items.size());
  std::string bytes(reinterpret_cast<const char*>(&count), sizeof count);
  put(bytes, items, &Bin::first_step);
  put(bytes, items, &Bin::last_step);
  put(bytes, items, &Bin::count);
  put(bytes, items, &Bin::nonfinite);
  put(bytes, items, &Bin::min);
  put(bytes, items, &Bin::max);
  put(bytes, items, &Bin::mean);
  put(bytes, items, &Bin::last);
  return bytes;
}

std::string pack(std::span<const int64_t> steps, std::span<const double> values) {
  const auto count = static_cast<uint32_t>(steps.size());
  std::string bytes(reinterpret_cast<const char*>(&count), sizeof count);
  std::vector<uint64_t> words(steps.begin(), steps.end());
  put_numbers(bytes, words);
  std::memcpy(words.data(), values.data(), values.size_bytes());
  put_numbers(bytes, words);
  return bytes;
}

std::vector<Bin> unpack(std::string_view data, int64_t level) {
  if (level == 0) {
    SampleColumns samples;
    unpack(data, samples);
    std::vector<Bin> bins;
    bins.reserve(samples.size());
    for (size_t i = 0; i < samples.size(); ++i)
      bins.push_back(bin_of({samples.steps[i], samples.values[i]}));
    return bins;
  }
  std::vector<Bin> bins(take_count(data, level));
  const bool whole = take_bins(data, bins) && data.empty();
  return whole && are_sound(bins) ? bins : std::vector<Bin>{};
}

void unpack(std::string_view data, SampleColumns& samples) {
  const size_t count = take_count(data, 0);
  samples.steps.resize(count);
  samples.values.resize(count);
  if (count > 0 && !take_samples(data, samples)) samples.clear();
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
