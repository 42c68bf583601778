// Words over the memory curve can be read on its colours.
#include "gui/timeline/memory_curve.h"

#include <QTest>

#include "gui/theme/theme.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

class MemoryCurveTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void the_limit_has_a_ground_of_its_own_data() {
    QTest::addColumn<double>("peakAt");  // of the step
    for (const double peakAt : {0.0, 0.5, 0.97, 1.0})
      QTest::newRow(qPrintable(QString::number(peakAt))) << peakAt;
  }

  void the_limit_has_a_ground_of_its_own() {
    QFETCH(double, peakAt);
    const QImage drawn = drawnWith(peakAt, 12 * kGiB);
    // A column right of the limit's words, below the curve's top: curve, ground of the words,
    // curve.
    const int right = 144 + 740 - 3;
    int ground = 0, filled = 0;
    for (int y = 30; y < 116; ++y) {
      ground += drawn.pixelColor(right, y) == colors().surface;
      filled += drawn.pixelColor(right, y) == colors().activations;
    }
    QVERIFY2(ground >= 15 && ground <= 20, qPrintable(QString::number(ground)));
    QVERIFY2(filled > 40, qPrintable(QString::number(filled)));
    QVERIFY(contrast(colors().badText, colors().surface) >= 4.5);
  }

  void a_peak_just_above_the_limit_covers_no_words() {
    const auto words = [](const QImage& drawn, int from, int to) {
      int pixels = 0;  // reddish ones above the curve, which begins at 21
      for (int x = from; x < to; ++x)
        for (int y = 8; y < 21; ++y)
          pixels += drawn.pixelColor(x, y).red() > drawn.pixelColor(x, y).green() + 60;
      return pixels;
    };
    const QImage away = drawnWith(0.5, 19 * kGiB), under = drawnWith(0.95, 19 * kGiB);
    QVERIFY(words(away, 500, 900) > 10 && words(away, 0, 500) == 0);
    QVERIFY(words(under, 500, 900) == 0 && words(under, 0, 500) > 10);
  }

  void it_says_whose_it_is() {
    MemoryCurve curve;
    auto moments = std::make_shared<std::vector<plan::MemoryMoment>>(1);
    curve.setMoments(moments, 0, "rank 64");
    QCOMPARE(curve.accessibleDescription(), QString("memory, rank 64: peak 0 B at 0 s"));
    curve.setMoments(moments, 0);
    QCOMPARE(curve.accessibleDescription(), QString("memory: peak 0 B at 0 s"));
  }

 private:
  static constexpr int64_t kGiB = int64_t{1} << 30;

  /// 19 GiB, and 20 from a share of the step on.
  static QImage drawnWith(double peakAt, int64_t limit) {
    auto moments = std::make_shared<std::vector<plan::MemoryMoment>>(2);
    (*moments)[0].bytes[plan::Category::activations] = 19 * kGiB;
    (*moments)[1] = (*moments)[0];
    (*moments)[1].time_us = static_cast<int64_t>(1e6 * peakAt);
    (*moments)[1].bytes[plan::Category::parameters] = kGiB;
    MemoryCurve curve;
    curve.resize(900, 120);
    curve.setMoments(moments, limit);
    curve.setAxis({.lengthUs = 1e6, .endUs = 1e6, .left = 144, .width = 740});
    curve.show();
    return curve.grab().toImage();
  }
};

HEDDLE_WIDGET_TEST(MemoryCurveTest)
#include "memory_curve_test.moc"
