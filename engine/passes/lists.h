// Lists by key, such as by a graph's node or value, without an allocation each.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace heddle::passes {

/// Lists of numbers by key, in one array.
class Lists {
 public:
  /// `for_each(add)` calls `add(key, entry)` for all entries, the same each time.
  template <typename ForEach>
  Lists(size_t keys, const ForEach& for_each) : begin_(keys + 1, 0) {
    for_each([&](size_t key, int32_t) { ++begin_[key + 1]; });
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    entries_.resize(begin_.back());
    std::vector<size_t> filled(begin_.begin(), begin_.end() - 1);
    for_each([&](size_t key, int32_t entry) { entries_[filled[key]++] = entry; });
  }

  std::span<const int32_t> operator[](size_t key) const {
    return std::span(entries_).subspan(begin_[key], begin_[key + 1] - begin_[key]);
  }

 private:
  std::vector<size_t> begin_;  // key k: from begin_[k] to begin_[k + 1]
  std::vector<int32_t> entries_;
};

}  // namespace heddle::passes
