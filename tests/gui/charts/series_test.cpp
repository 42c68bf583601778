// Curves as data: reduction to pixels, smoothing, values that are not finite.
#include "gui/charts/series.h"

#include <QTest>
#include <cmath>

#include "tests/support/test_class.h"

using namespace heddle::gui;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Series seriesOf(std::initializer_list<double> values) {
  Series series;
  double x = 1;
  for (const double y : values) series.append(x++, y);
  return series;
}

}  // namespace

class SeriesTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void columns_keep_the_extremes_of_each_pixel() {
    Series series;
    for (int i = 0; i < 1'000'000; ++i) series.append(i, i == 123'456 ? 50 : std::sin(i * 0.01));
    const auto reduced = columns(series, 0, 999'999, 400);
    QVERIFY(reduced.size() <= 402);
    QCOMPARE(rangeOf(reduced).high, 50.0);
    QVERIFY(rangeOf(reduced).low < -0.99);
    QCOMPARE(reduced.back().last, series.lastY());
  }

  void a_zoomed_view_reads_only_its_range_and_a_neighbour_on_each_side() {
    const Series series = seriesOf({10, 11, 12, 13, 14, 15});
    const auto reduced = columns(series, 2.5, 4.5, 100);
    QCOMPARE(reduced.size(), 4u);
    QCOMPARE(reduced.front().last, 11.0);
    QCOMPARE(reduced.back().last, 14.0);
  }

  void values_that_are_not_finite_interrupt_the_curve_and_are_marked() {
    const Series series = seriesOf({1, 2, kNaN, INFINITY, 3});
    QCOMPARE(series.notFinite(), (std::vector<double>{3, 4}));
    const auto reduced = columns(series, 1, 5, 100);
    QCOMPARE(reduced.size(), 4u);
    QVERIFY(std::isnan(reduced[2].last));
    QCOMPARE(reduced[3].last, 3.0);
  }

  void a_sample_that_no_line_reaches_is_alone() {
    const auto alone = [](std::initializer_list<double> values) {
      const Series series = seriesOf(values);
      std::vector<double> at;
      for (const Column& each : lone(columns(series, 1, static_cast<double>(values.size()), 100)))
        at.push_back(each.x);
      return at;
    };
    QCOMPARE(alone({1, 2, kNaN, 3, INFINITY, 4, 5}), (std::vector<double>{4}));
    QCOMPARE(alone({kNaN, 3, kNaN}), (std::vector<double>{2}));
    QCOMPARE(alone({3, kNaN, 4}), (std::vector<double>{1, 3}));
    QCOMPARE(alone({1, 2, 3}), std::vector<double>());
    // The first step of a run that has no other.
    const Series first = seriesOf({7});
    QCOMPARE(lone(columns(first, 0.5, 1.5, 100)).size(), size_t(1));
  }

  void smoothing_starts_at_the_first_sample_and_skips_gaps() {
    heddle::Ema ema{.half_life = 1};
    std::vector<double> smooth;
    double at = 0;
    for (const double y : {4.0, 4.0, kNaN, 4.0, 8.0}) smooth.push_back(ema.next(at++, y));
    QCOMPARE(smooth[0], 4.0);
    QCOMPARE(smooth[1], 4.0);
    QVERIFY(std::isnan(smooth[2]));
    QCOMPARE(smooth[3], 4.0);
    // Weights of 4, 4, 4, 8, whose distances are 4, 3, 1 and 0.
    QCOMPARE(smooth[4], (4 * (1.0 / 16 + 1.0 / 8 + 1.0 / 2) + 8) / (1 + 1.0 / 16 + 1.0 / 8 + 0.5));
  }

  void a_sample_weighs_by_its_distance() {
    heddle::Ema ema{.half_life = 10};
    (void)ema.next(0, 2);
    QCOMPARE(ema.next(10, 8), (2 * 0.5 + 8) / 1.5);
    QCOMPARE(ema.next(1010, 3), 3.0);  // long after the others
  }

  void a_point_may_sum_up_several_samples() {
    Series series;
    series.append(1, 5);
    series.append(10, 6, 2, 9);
    series.append(11, 7);
    const auto reduced = columns(series, 0, 20, 1);
    QCOMPARE(reduced.size(), 1u);
    QCOMPARE(reduced[0].min, 2.0);
    QCOMPARE(reduced[0].max, 9.0);
    QCOMPARE(series.low()[0], 5.0);
  }

  void on_a_logarithmic_axis_every_decade_has_as_many_pixels() {
    Series series;
    for (int i = 0; i <= 10'000; ++i) series.append(i, i);
    const auto reduced = columns(series, 1, 10'000, 4, true);
    QVERIFY(reduced.size() == 4 || reduced.size() == 5);  // the last sample is at the edge
    QVERIFY(reduced[0].x == 9 || reduced[0].x == 10);
    QVERIFY(reduced[1].x == 99 || reduced[1].x == 100);
  }

  void a_repeated_step_replaces_its_value_and_an_older_one_is_ignored() {
    Series series = seriesOf({1, 2, kNaN});
    series.append(3, 5);
    series.append(2, 9);
    QCOMPARE(series.size(), 3u);
    QCOMPARE(series.lastY(), 5.0);
    QCOMPARE(series.y()[1], 2.0);
    QVERIFY(series.notFinite().empty());
  }

  void the_nearest_sample_is_found() {
    const Series series = seriesOf({1, 2, 3});
    QCOMPARE(series.nearest(-5), 0);
    QCOMPARE(series.nearest(1.4), 0);
    QCOMPARE(series.nearest(1.6), 1);
    QCOMPARE(series.nearest(99), 2);
    QCOMPARE(Series().nearest(1), -1);
  }
};

HEDDLE_TEST(SeriesTest)
#include "series_test.moc"
