#include "engine/data/mixture.h"

#include <xxhash.h>

#include <algorithm>
#include <numeric>

namespace heddle::data {

constexpr int64_t kDrawBlock = 1024;

Mixture::Mixture(const std::vector<double>& weights, uint64_t seed)
    : below_(weights.size()), seed_(seed), counts_{std::vector<int64_t>(weights.size())} {
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::partial_sum(weights.begin(), weights.end(), below_.begin());
  for (double& share : below_) share /= all;
}

size_t Mixture::text_at(int64_t place) const {
  constexpr double kAll = 18446744073709551616.0;  // 2^64
  const double number =
      static_cast<double>(XXH3_64bits_withSeed(&place, sizeof(place), seed_)) / kAll;
  const auto found = std::ranges::upper_bound(below_, number);
  return std::min(static_cast<size_t>(found - below_.begin()), below_.size() - 1);
}

Mixture::Pick Mixture::at(int64_t place) const {
  const size_t text = text_at(place);
  return {text, before(place)[text]};
}

std::vector<int64_t> Mixture::before(int64_t place) const {
  const auto block = static_cast<size_t>(place / kDrawBlock);
  std::vector<int64_t> counts;
  {
    const std::scoped_lock one(mutex_);
    while (counts_.size() <= block) {
      counts = counts_.back();
      const auto begin = static_cast<int64_t>(counts_.size() - 1) * kDrawBlock;
      for (int64_t at = begin; at < begin + kDrawBlock; ++at) ++counts[text_at(at)];
      counts_.push_back(std::move(counts));
    }
    counts = counts_[block];
  }
  for (int64_t at = static_cast<int64_t>(block) * kDrawBlock; at < place; ++at)
    ++counts[text_at(at)];
  return counts;
}

}  // namespace heddle::data
