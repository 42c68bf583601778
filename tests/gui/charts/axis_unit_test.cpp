// Units on axes: the size that suits the largest value, and ticks with as many digits as they need.
#include <QTest>

#include "gui/charts/unit.h"
#include "tests/support/test_class.h"

using heddle::Unit;
using heddle::gui::scaledUnit;
using heddle::gui::tickText;

class AxisUnitTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void the_largest_value_chooses_the_size_data() {
    QTest::addColumn<int>("unit");
    QTest::addColumn<double>("largest");
    QTest::addColumn<double>("scale");
    QTest::addColumn<QString>("name");
    const auto row = [](Unit unit, double largest, double scale, const char* name) {
      QTest::addRow("%s of %g", name, largest)
          << static_cast<int>(unit) << largest << scale << name;
    };
    row(Unit::bytes, 999, 1, "B");
    row(Unit::bytes, 1000, 1024, "KiB");
    row(Unit::bytes, 80.0 * (1 << 20), 1 << 20, "MiB");
    row(Unit::bytes, 61.2 * (1 << 30), 1 << 30, "GiB");
    row(Unit::bytes, 3e13, 1024.0 * (1 << 30), "TiB");
    row(Unit::share, 0.4, 0.01, "%");
    row(Unit::tokens, 8.03e9, 1e9, "B");
    row(Unit::tokens_per_second, 6667, 1, "tok/s");
  }

  void the_largest_value_chooses_the_size() {
    QFETCH(int, unit);
    QFETCH(double, largest);
    const auto scaled = scaledUnit(static_cast<Unit>(unit), largest);
    QTEST(scaled.scale, "scale");
    QTEST(scaled.name, "name");
  }

  void ticks_have_the_digits_of_their_step() {
    QCOMPARE(tickText(20000, 5000), "20,000");
    QCOMPARE(tickText(0.75, 0.25), "0.8");
    QCOMPARE(tickText(1e-12, 0.5), "0.0");
  }
};

HEDDLE_TEST(AxisUnitTest)
#include "axis_unit_test.moc"
