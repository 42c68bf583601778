#include "engine/data/merges.h"

#include <algorithm>
#include <bit>
#include <set>
#include <unordered_map>
#include <utility>

namespace heddle::data {
namespace {

uint64_t pair_of(int32_t left, int32_t right) {
  return static_cast<uint64_t>(left) << 32 | static_cast<uint32_t>(right);
}

/// For each token the symbols that it may begin with, or end with.
class Ends {
 public:
  explicit Ends(std::span<const int32_t> symbols) {
    for (const int32_t symbol : symbols) ends_[symbol] = {symbol};
  }

  /// Adds a merge's `part` to the token that it makes; true if that is news.
  bool add(int32_t merged, int32_t part) {
    const std::vector<int32_t> symbols = ends_[part];
    std::vector<int32_t>& all = ends_[merged];
    const size_t before = all.size();
    for (const int32_t symbol : symbols)
      if (std::ranges::find(all, symbol) == all.end()) all.push_back(symbol);
    return all.size() > before;
  }
  std::span<const int32_t> of(int32_t token) { return ends_[token]; }

 private:
  std::unordered_map<int32_t, std::vector<int32_t>> ends_;
};

}  // namespace

PairTable::PairTable(size_t pairs) : slots_(std::bit_ceil(2 * pairs + 1)) {}

size_t PairTable::slot_of(uint64_t pair) const {
  // Fibonacci hashing: the product's high bits depend on all of the key.
  const size_t mask = slots_.size() - 1;
  size_t slot = (pair * 0x9E3779B97F4A7C15U) >> 32 & mask;
  while (slots_[slot].rank != kNone && slots_[slot].pair != pair) slot = (slot + 1) & mask;
  return slot;
}

void PairTable::insert(int32_t left, int32_t right, uint32_t rank) {
  const uint64_t pair = pair_of(left, right);
  slots_[slot_of(pair)] = {pair, rank};
}

uint32_t PairTable::find(int32_t left, int32_t right) const {
  return slots_[slot_of(pair_of(left, right))].rank;
}

Joins::Joins(std::span<const Merge> merges, std::span<const int32_t> symbols) {
  Ends firsts(symbols), lasts(symbols);
  // Once, where a token is made before it is merged, as trainers write it.
  for (bool news = true; news;) {
    news = false;
    for (const Merge& merge : merges) {
      news |= firsts.add(merge.merged, merge.left);
      news |= lasts.add(merge.merged, merge.right);
    }
  }
  std::set<std::pair<int32_t, int32_t>> pairs;
  for (const Merge& merge : merges)
    for (const int32_t left : lasts.of(merge.left))
      for (const int32_t right : firsts.of(merge.right)) pairs.emplace(left, right);
  pairs_ = PairTable(pairs.size());
  for (const auto& [left, right] : pairs) pairs_.insert(left, right, 0);
}

}  // namespace heddle::data
