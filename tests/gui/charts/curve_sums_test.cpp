// A group's mean and range, and differences, of curves that do not have the same steps.
#include "gui/charts/curve_sums.h"

#include <QTest>
#include <cmath>

#include "tests/support/test_class.h"

using namespace heddle::gui;

namespace {

Series curveOf(std::initializer_list<std::pair<double, double>> points) {
  Series series;
  for (const auto& [x, y] : points) series.append(x, y);
  return series;
}

}  // namespace

class CurveSumsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void between_two_samples_a_curve_is_a_straight_line_and_beyond_its_ends_nothing() {
    const Series curve = curveOf({{1, 10}, {3, 20}});
    QCOMPARE(valueAt(curve, 2), 15.0);
    QCOMPARE(valueAt(curve, 3), 20.0);
    QVERIFY(std::isnan(valueAt(curve, 0.5)));
    QVERIFY(std::isnan(valueAt(curve, 3.5)));
    QVERIFY(std::isnan(valueAt(Series(), 1)));
  }

  void a_band_counts_the_curves_that_reach_each_x() {
    const Series a = curveOf({{1, 1}, {2, 2}, {3, 3}}), b = curveOf({{1, 3}, {2, 6}});
    const Band band = bandOf({&a, &b}, 100);
    QCOMPARE(band.members, (std::vector<int>{2, 2, 1}));
    QCOMPARE(band.range.y()[1], 4.0);
    QCOMPARE(band.range.low()[1], 2.0);
    QCOMPARE(band.range.high()[1], 6.0);
    QCOMPARE(band.range.y()[2], 3.0);
  }

  void a_band_has_no_more_points_than_asked_for_and_keeps_both_ends() {
    Series curve;
    for (int i = 0; i < 10'000; ++i) curve.append(i, i);
    const Band band = bandOf({&curve, &curve}, 50);
    QCOMPARE(band.range.size(), size_t(50));
    QCOMPARE(band.range.x().front(), 0.0);
    QCOMPARE(band.range.lastX(), 9999.0);
  }

  void where_no_member_is_finite_the_band_has_a_gap() {
    const Series a = curveOf({{1, 1}, {2, NAN}, {3, 1}});
    const Band band = bandOf({&a}, 100);
    QCOMPARE(band.range.notFinite(), std::vector<double>{2});
    QCOMPARE(band.members[1], 0);
  }

  void a_difference_is_interpolated_and_only_where_both_are() {
    const Series curve = curveOf({{0, 5}, {2, 5}, {4, 5}, {9, 5}}),
                 base = curveOf({{1, 1}, {3, 3}, {5, NAN}});
    const Series difference = differenceOf(curve, base);
    QCOMPARE(difference.size(), size_t(2));
    QCOMPARE(difference.y()[0], 3.0);
    QCOMPARE(difference.notFinite(), std::vector<double>{4});  // stays marked
    QVERIFY(differenceOf(curve, curveOf({{20, 1}, {30, 1}})).empty());
    QVERIFY(differenceOf(curve, Series()).empty());
  }
};

HEDDLE_TEST(CurveSumsTest)
#include "curve_sums_test.moc"
