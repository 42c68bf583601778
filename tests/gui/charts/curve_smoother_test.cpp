// One pass over the samples gives each point the average after its last sample.
#include "gui/charts/curve_smoother.h"

#include <QTest>
#include <map>
#include <random>

#include "tests/support/test_class.h"

using namespace heddle::gui;

namespace {

struct Samples {
  std::vector<int64_t> steps;
  std::vector<double> values;
};

/// Some values are not finite, some steps are missing.
Samples samplesOf(int64_t count) {
  std::mt19937 random(1);
  Samples samples;
  int64_t step = 0;
  for (int64_t i = 0; i < count; ++i) {
    step += random() % 20 == 0 ? 1 + random() % 100 : 1;
    samples.steps.push_back(step);
    samples.values.push_back(random() % 30 == 0 ? NAN : double(random() % 1000));
  }
  return samples;
}

/// Passes at most `atOnce` samples per call.
Series smoothed(const Samples& samples, CurveSmoother& smoother, size_t atOnce) {
  for (size_t i = 0; i < samples.steps.size(); i += atOnce) {
    const size_t some = std::min(atOnce, samples.steps.size() - i);
    smoother.take(std::span(samples.steps).subspan(i, some),
                  std::span(samples.values).subspan(i, some));
  }
  return smoother.finish();
}

}  // namespace

class CurveSmootherTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void each_point_is_the_average_after_its_last_sample() {
    const Samples samples = samplesOf(20'000);
    Ema ema{.half_life = 25};
    std::map<double, double> right;  // after each finite sample
    for (size_t i = 0; i < samples.steps.size(); ++i) {
      const double step = double(samples.steps[i]);
      const double value = ema.next(step, samples.values[i]);
      if (std::isfinite(value)) right[step] = value;
    }
    const CurveAxis axis;
    for (const double aPoint : {1.0, 2.5, 97.3, 1e6})
      for (const int64_t from : {int64_t{0}, int64_t{7001}})
        for (const size_t atOnce : {size_t{1}, size_t{1000}, size_t{1'000'000}}) {
          CurveSmoother smoother({.half_life = 25}, {from, samples.steps[15'000], aPoint}, axis);
          const Series curve = smoothed(samples, smoother, atOnce);
          std::map<double, double> points;  // the last finite sample, by point number
          for (const auto& [step, value] : right)
            if (step >= double(from)) points[std::floor(step / aPoint)] = step;
          size_t finite = 0;
          for (size_t i = 0; i < curve.size(); ++i) {
            if (!std::isfinite(curve.y()[i])) continue;
            ++finite;
            const double x = curve.x()[i];
            QCOMPARE(points.at(std::floor(x / aPoint)), x);
            QVERIFY(curve.y()[i] == right.at(x));
          }
          QCOMPARE(finite, points.size());
          Ema settled{.half_life = 25};
          for (size_t i = 0; i <= 15'000; ++i)
            settled.take(double(samples.steps[i]), samples.values[i]);
          QVERIFY(smoother.settled().sum == settled.sum && smoother.settled().last == settled.last);
        }
  }

  void it_goes_on_from_an_earlier_end() {
    const Samples samples = samplesOf(5000);
    const Samples first{{samples.steps.begin(), samples.steps.begin() + 3000},
                        {samples.values.begin(), samples.values.begin() + 3000}};
    const Samples rest{{samples.steps.begin() + 3000, samples.steps.end()},
                       {samples.values.begin() + 3000, samples.values.end()}};
    const CurveAxis axis;
    CurveSmoother whole({.half_life = 10}, {0, samples.steps.back(), 1}, axis);
    CurveSmoother begun({.half_life = 10}, {0, first.steps.back(), 1}, axis);
    Series curve = smoothed(first, begun, 100);
    CurveSmoother going(begun.settled(), {rest.steps.front(), rest.steps.back(), 1}, axis);
    curve.append(smoothed(rest, going, 100));
    const Series right = smoothed(samples, whole, 100);
    QCOMPARE(curve.size(), right.size());
    for (size_t i = 0; i < right.size(); ++i) {
      QCOMPARE(curve.x()[i], right.x()[i]);
      QVERIFY(curve.y()[i] == right.y()[i] || std::isnan(right.y()[i]));
    }
  }

  void values_that_are_not_finite_interrupt_a_curve_of_single_steps() {
    const CurveAxis axis;
    CurveSmoother smoother({.half_life = 1}, {0, 3, 1}, axis);
    const Series curve = smoothed({{1, 2, 3}, {1, NAN, 1}}, smoother, 3);
    QCOMPARE(curve.size(), size_t{3});
    QVERIFY(std::isnan(curve.y()[1]));
    QCOMPARE(curve.notFinite(), std::vector<double>{2});
  }
};

HEDDLE_TEST(CurveSmootherTest)
#include "curve_smoother_test.moc"
