// The order of samples: known before a text's end is, and that of a whole shuffle for a small text.
#include "engine/data/sample_order.h"

#include <QtTest>
#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/data/shuffle.h"
#include "tests/support/test_class.h"

using heddle::data::SampleOrder;

namespace {

constexpr int64_t kSeqLen = 65'535;  // a first window of 256 samples
constexpr uint64_t kSeed = 42;

std::vector<int64_t> order_of(int64_t samples, int64_t epoch = 0) {
  const SampleOrder order(kSeqLen, kSeed);
  std::vector<int64_t> all;
  for (int64_t place = 0; place < samples; ++place)
    all.push_back(order.sample(place, samples, epoch));
  return all;
}

}  // namespace

class SampleOrderTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_small_text_is_shuffled_as_a_whole() {
    for (const int64_t samples : {1, 2, 100, 256})
      for (const int64_t epoch : {0, 3}) {
        const auto order = order_of(samples, epoch);
        for (int64_t place = 0; place < samples; ++place)
          QCOMPARE(order[place], static_cast<int64_t>(heddle::data::shuffled(
                                     static_cast<uint64_t>(place), static_cast<uint64_t>(samples),
                                     kSeed, static_cast<uint64_t>(epoch))));
      }
  }

  void each_sample_once_an_epoch() {
    for (const int64_t samples : {257, 511, 512, 513, 5'000, 400'000}) {
      std::vector<int64_t> sorted = order_of(samples, 1), all(sorted.size());
      QVERIFY(sorted != order_of(samples, 2));
      std::ranges::sort(sorted);
      std::iota(all.begin(), all.end(), 0);
      QCOMPARE(sorted, all);
    }
  }

  /// As long as a place's window is known, how much follows changes nothing.
  void it_is_known_before_the_texts_end_is() {
    const SampleOrder order(kSeqLen, kSeed);
    const auto all = order_of(300'000);
    for (const int64_t place : {0, 255, 256, 511, 512, 1'023, 100'000, 131'072, 262'143}) {
      const int64_t needed = order.needed(place);
      QVERIFY(needed > place);
      QCOMPARE(order.sample(place, needed, 0), all[place]);
      QVERIFY(all[place] < needed);
    }
    QCOMPARE(order.needed(0), int64_t{256});
    QCOMPARE(order.needed(256), int64_t{512});
    QCOMPARE(order.needed(512), int64_t{1024});
    QCOMPARE(order.needed(131'072 + 5), int64_t{262'144});
    QCOMPARE(order.needed(262'144), int64_t{393'216});  // windows grow no further
  }

  void windows_have_orders_of_their_own() {
    const auto all = order_of(1024);
    std::vector<int64_t> second(all.begin() + 256, all.begin() + 512);
    for (int64_t& sample : second) sample -= 256;
    QVERIFY(second != std::vector<int64_t>(all.begin(), all.begin() + 256));
  }

  void a_sample_longer_than_a_window() {
    const SampleOrder order(int64_t{1} << 30, kSeed);
    QCOMPARE(order.needed(0), int64_t{1});
    QCOMPARE(order.sample(0, 1, 0), int64_t{0});
  }
};

HEDDLE_TEST(SampleOrderTest)
#include "sample_order_test.moc"
