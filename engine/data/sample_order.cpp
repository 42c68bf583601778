#include "engine/data/sample_order.h"

#include <algorithm>

#include "engine/data/shuffle.h"

namespace heddle::data {

constexpr int64_t kFirstTextTokens = int64_t{1} << 24;
constexpr int64_t kDoublings = 9;  // from the first window to the longest

SampleOrder::SampleOrder(int64_t seq_len, uint64_t seed)
    : first_(std::max<int64_t>(1, kFirstTextTokens / (seq_len + 1))),
      most_(first_ << kDoublings),
      seed_(seed) {}

SampleOrder::Window SampleOrder::window_of(int64_t place) const {
  if (place < first_) return {0, first_, 0};
  int64_t number = 1, begin = first_;
  for (; begin < most_; begin *= 2, ++number)
    if (place < 2 * begin) return {begin, 2 * begin, number};
  const int64_t further = (place - begin) / most_;
  return {begin + further * most_, begin + (further + 1) * most_, number + further};
}

int64_t SampleOrder::needed(int64_t place) const { return window_of(place).end; }

int64_t SampleOrder::sample(int64_t place, int64_t samples, int64_t epoch) const {
  const auto [begin, end, number] = window_of(place);
  const auto size = static_cast<uint64_t>(std::min(end, samples) - begin);
  // Another order in each window; the first one's equals that of a text of one window.
  const uint64_t seed = seed_ + static_cast<uint64_t>(number) * 0x9E3779B97F4A7C15U;
  return begin + static_cast<int64_t>(shuffled(static_cast<uint64_t>(place - begin), size, seed,
                                               static_cast<uint64_t>(epoch)));
}

}  // namespace heddle::data
