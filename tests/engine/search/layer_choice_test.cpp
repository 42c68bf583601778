// The dynamic programming over layers against every choice that there is.
#include "engine/search/layer_choice.h"

#include <QTest>
#include <limits>
#include <random>

#include "tests/support/test_class.h"

using namespace heddle::search;

namespace {

using Layers = std::vector<std::vector<LayerWay>>;

struct Sums {
  double seconds = 0;
  int64_t bytes = 0;
};

Sums sums_of(const Layers& layers, const std::vector<size_t>& ways) {
  Sums sums;
  for (size_t i = 0; i < layers.size(); ++i) {
    sums.seconds += layers[i][ways[i]].seconds;
    sums.bytes += layers[i][ways[i]].bytes;
  }
  return sums;
}

/// The least seconds of all choices that fit; infinity: none does.
double by_trying_all(const Layers& layers, int64_t memory) {
  double least = std::numeric_limits<double>::infinity();
  std::vector<size_t> ways(layers.size(), 0);
  for (;;) {
    const Sums sums = sums_of(layers, ways);
    if (sums.bytes <= memory) least = std::min(least, sums.seconds);
    size_t i = 0;
    while (i < ways.size() && ++ways[i] == layers[i].size()) ways[i++] = 0;
    if (i == ways.size()) return least;
  }
}

}  // namespace

class LayerChoiceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equals_every_choice() {
    std::mt19937 random(1);
    const auto up_to = [&](int most) { return static_cast<int64_t>(random() % most); };
    for (int round = 0; round < 500; ++round) {
      Layers layers(static_cast<size_t>(1 + up_to(4)));
      for (auto& ways : layers) {
        ways.resize(static_cast<size_t>(1 + up_to(4)));
        for (LayerWay& way : ways) way = {static_cast<double>(up_to(100)), up_to(20)};
      }
      const int64_t memory = up_to(60);
      const double least = by_trying_all(layers, memory);
      const auto chosen = choose_ways(layers, memory, memory);
      QCOMPARE(chosen.has_value(), least < std::numeric_limits<double>::infinity());
      if (!chosen) continue;
      const Sums sums = sums_of(layers, *chosen);
      QCOMPARE(sums.seconds, least);
      QVERIFY(sums.bytes <= memory);
    }
  }

  void more_memory_is_never_slower() {
    const Layers layers(30, {{3, 40}, {4, 15}, {5, 1}});
    double before = std::numeric_limits<double>::infinity();
    for (int64_t memory = 30; memory <= 1300; memory += 10) {
      const auto chosen = choose_ways(layers, memory, memory);
      QVERIFY(chosen);
      const double seconds = sums_of(layers, *chosen).seconds;
      QVERIFY(seconds <= before);
      before = seconds;
    }
    QCOMPARE(before, 90.0);
  }

  void coarse_steps_stay_within_the_limit() {
    const Layers layers(7, {{1, 1'000'003}, {2, 500'001}, {3, 7}});
    for (const int64_t steps : {1, 3, 10, 1000}) {
      const auto chosen = choose_ways(layers, 4'000'000, steps);
      if (chosen) QVERIFY(sums_of(layers, *chosen).bytes <= 4'000'000);
    }
    QVERIFY(choose_ways(layers, 4'000'000, 1000));
  }

  void nothing_fits() {
    QVERIFY(!choose_ways({{{1, 10}}, {{1, 10}}}, 19, 19));
    QVERIFY(!choose_ways({{{1, 10}}}, -1));
  }
};

HEDDLE_TEST(LayerChoiceTest)
#include "layer_choice_test.moc"
