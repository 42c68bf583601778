// Times that something disturbed, among those of the sizes around them.
#include "engine/cost/smooth.h"

#include <QTest>

#include "tests/support/test_class.h"

using namespace heddle::cost;

class SmoothTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void the_median_of_three_takes_out_one_that_stands_out() {
    QCOMPARE(running_median({1, 2, 90, 4, 5}), (std::vector<double>{1, 2, 4, 5, 5}));
    QCOMPARE(running_median({1, 2, 0, 4, 5}), (std::vector<double>{1, 1, 2, 4, 5}));
  }

  void what_is_steady_stays() {
    for (const std::vector<double>& numbers :
         std::vector<std::vector<double>>{{}, {7}, {7, 1}, {1, 2, 4, 8, 16}, {9, 3, 2, 2, 1}})
      QCOMPARE(running_median(numbers), numbers);
  }

  // 100 us and 4 GB/s; beside compute twice that, and compute loses what the transfer takes alone.
  static CollectiveTimes sound() {
    CollectiveTimes times;
    for (int64_t bytes = 4096; bytes <= (int64_t{64} << 20); bytes *= 4) {
      const double alone = 1e-4 + static_cast<double>(bytes) / 4e9;
      times.alone.push_back({bytes, alone});
      times.beside_compute.push_back({bytes, 2 * alone});
      times.lost.push_back({bytes, alone});
    }
    return times;
  }

  void sound_times_stay() {
    const CollectiveTimes before = sound(), after = smooth(before);
    for (const auto curve :
         {&CollectiveTimes::alone, &CollectiveTimes::beside_compute, &CollectiveTimes::lost})
      for (size_t i = 0; i < before.alone.size(); ++i)
        QVERIFY(qAbs((after.*curve)[i].seconds / (before.*curve)[i].seconds - 1) < 1e-9);
  }

  // As it was once measured: a neighbour had slowed compute alone, so that a scatter seemed to cost
  // nothing beside it, and a plan with eight of just that size was chosen.
  void a_disturbed_size_is_judged_by_those_around_it_data() {
    QTest::addColumn<int>("curve");
    QTest::addColumn<double>("factor");
    QTest::newRow("alone, longer") << 0 << 3.0;
    QTest::newRow("beside compute, longer") << 1 << 5.0;
    QTest::newRow("lost, next to nothing") << 2 << 0.02;
  }
  void a_disturbed_size_is_judged_by_those_around_it() {
    QFETCH(int, curve);
    QFETCH(double, factor);
    constexpr Curve CollectiveTimes::*kCurves[] = {
        &CollectiveTimes::alone, &CollectiveTimes::beside_compute, &CollectiveTimes::lost};
    CollectiveTimes times = sound();
    const double right = (times.*kCurves[curve])[5].seconds;
    (times.*kCurves[curve])[5].seconds *= factor;
    const double seen = (smooth(times).*kCurves[curve])[5].seconds;
    QVERIFY2(qAbs(seen / right - 1) < 0.4, qPrintable(QString::number(seen / right)));
  }
};

HEDDLE_TEST(SmoothTest)
#include "smooth_test.moc"
