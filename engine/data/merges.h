// The merges of byte-pair encoding: their ranks, and what they can reach.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heddle::data {

/// Two tokens that become one.
struct Merge {
  int32_t left = 0;
  int32_t right = 0;
  int32_t merged = 0;
};

/// Finds the rank of a pair of ids: a hash table with open addressing, since this is the inner
/// loop.
class PairTable {
 public:
  static constexpr uint32_t kNone = 0xFFFFFFFF;

  explicit PairTable(size_t pairs = 0);
  /// The last rank given to a pair holds.
  void insert(int32_t left, int32_t right, uint32_t rank);
  uint32_t find(int32_t left, int32_t right) const;

 private:
  struct Slot {
    uint64_t pair = 0;
    uint32_t rank = kNone;
  };
  size_t slot_of(uint64_t pair) const;

  std::vector<Slot> slots_;
};

/// Which neighbouring symbols a merge can ever join. A text may be cut between two that none joins:
/// merging both parts gives what merging the whole gives.
class Joins {
 public:
  /// `symbols`: all tokens that merging may begin with.
  Joins(std::span<const Merge> merges, std::span<const int32_t> symbols);
  bool may_join(int32_t left, int32_t right) const {
    return pairs_.find(left, right) != PairTable::kNone;
  }

 private:
  PairTable pairs_;
};

}  // namespace heddle::data
