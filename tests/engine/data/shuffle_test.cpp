// The order of samples: a permutation, another one for each seed and epoch, and no order left.
#include "engine/data/shuffle.h"

#include <QtTest>
#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <vector>

#include "tests/support/test_class.h"

using heddle::data::shuffled;

namespace {

std::vector<uint64_t> order(uint64_t size, uint64_t seed, uint64_t epoch) {
  std::vector<uint64_t> sent(size);
  for (uint64_t i = 0; i < size; ++i) sent[i] = shuffled(i, size, seed, epoch);
  return sent;
}

}  // namespace

class ShuffleTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void every_index_once() {
    for (uint64_t size : {1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 1000, 4096, 4097}) {
      std::vector<uint64_t> sorted = order(size, 42, 0);
      std::ranges::sort(sorted);
      std::vector<uint64_t> all(size);
      std::iota(all.begin(), all.end(), 0);
      QCOMPARE(sorted, all);
    }
  }

  void seed_and_epoch_change_it() {
    const auto first = order(1000, 42, 0);
    QCOMPARE(order(1000, 42, 0), first);
    QVERIFY(order(1000, 43, 0) != first);
    QVERIFY(order(1000, 42, 1) != first);
  }

  // A run that goes on after an update reads the same samples.
  void the_order_is_part_of_the_format() {
    QCOMPARE(order(10, 42, 0), (std::vector<uint64_t>{7, 4, 3, 1, 8, 0, 2, 9, 5, 6}));
  }

  /// Over many seeds each place is taken by each index about equally often.
  void no_place_is_preferred() {
    constexpr uint64_t kSize = 6;
    constexpr int kSeeds = 6000;
    std::array<std::array<int, kSize>, kSize> counts{};
    std::set<std::vector<uint64_t>> orders;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const auto sent = order(kSize, seed, 0);
      orders.insert(sent);
      for (uint64_t i = 0; i < kSize; ++i) ++counts[i][sent[i]];
    }
    for (const auto& row : counts)
      for (const int count : row)
        QVERIFY2(count > 800 && count < 1200, std::to_string(count).c_str());
    QCOMPARE(orders.size(), size_t{720});  // all there are
  }
};

HEDDLE_TEST(ShuffleTest)
#include "shuffle_test.moc"
