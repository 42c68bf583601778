// The learning rate's factor against the formula's own worked values.
#include "engine/recipe/schedule.h"

#include <QTest>
#include <cmath>

#include "tests/support/test_class.h"

using heddle::recipe::Decay;
using heddle::recipe::lr_factor;
using heddle::recipe::Schedule;

class ScheduleTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void warms_up_then_decays_to_the_floor_data() {
    QTest::addColumn<int>("decay");
    QTest::addColumn<double>("at_step_7");  // of 10, after 2 of warm-up: p = (7 + 1 − 2 − 1) / 8
    QTest::newRow("linear") << int(Decay::linear) << 1.0 - 5.0 / 8;
    QTest::newRow("sqrt") << int(Decay::sqrt) << 1.0 - std::sqrt(5.0 / 8);
    QTest::newRow("cosine") << int(Decay::cosine) << 0.5 * (1.0 + std::cos(M_PI * 5.0 / 8));
    QTest::newRow("none") << int(Decay::none) << 1.0;
  }
  void warms_up_then_decays_to_the_floor() {
    QFETCH(int, decay);
    QFETCH(double, at_step_7);
    const Schedule schedule{
        .warmup_steps = 2, .decay = Decay(decay), .decay_ratio = 0.0, .min_lr_factor = 0.0};
    QCOMPARE(lr_factor(schedule, 10, 0), 0.5);
    QCOMPARE(lr_factor(schedule, 10, 1), 1.0);
    QCOMPARE(lr_factor(schedule, 10, 2), 1.0);
    QCOMPARE(lr_factor(schedule, 10, 7), at_step_7);
  }

  void a_decay_ratio_leaves_a_stable_stretch_and_a_floor() {
    const Schedule schedule{
        .warmup_steps = 0, .decay = Decay::linear, .decay_ratio = 0.3, .min_lr_factor = 0.1};
    QCOMPARE(lr_factor(schedule, 10, 7), 1.0);
    QCOMPARE(lr_factor(schedule, 10, 8), 0.1 + 0.9 * 0.5);
    QCOMPARE(lr_factor(schedule, 10, 9), 0.1);
    QCOMPARE(lr_factor(schedule, 10, 10), 0.1);
  }

  void the_last_step_has_the_lowest_rate_data() {
    QTest::addColumn<int>("decay");
    QTest::newRow("linear") << int(Decay::linear);
    QTest::newRow("sqrt") << int(Decay::sqrt);
    QTest::newRow("cosine") << int(Decay::cosine);
  }
  void the_last_step_has_the_lowest_rate() {
    QFETCH(int, decay);
    for (const int steps : {1, 2, 3, 10, 1000})
      for (const int warmup : {0, 1, 100})
        for (const double ratio : {0.0, 0.001, 0.2, 1.0}) {
          if (warmup >= steps || ratio * steps > steps - warmup) continue;
          if (ratio > 0 && std::llround(ratio * steps) == 0) continue;  // no step decays
          Schedule schedule{.warmup_steps = warmup,
                            .decay = Decay(decay),
                            .decay_ratio = ratio,
                            .min_lr_factor = 0.1};
          QCOMPARE(lr_factor(schedule, steps, steps - 1), 0.1);
          double before = 1.0;
          for (int step = warmup; step < steps; ++step) {
            const double now = lr_factor(schedule, steps, step);
            QVERIFY(now <= before);
            before = now;
          }
          // A step at a rate of 0 would change nothing.
          schedule.min_lr_factor = 0;
          QVERIFY(lr_factor(schedule, steps, steps - 1) > 0);
          QCOMPARE(lr_factor(schedule, steps, steps), 0.0);
        }
  }
};

HEDDLE_TEST(ScheduleTest)
#include "schedule_test.moc"
