// A chart as a person uses it: it grows, is zoomed, is read off; units and ticks.
#include "gui/charts/line_chart.h"

#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>
#include <cmath>

#include "gui/charts/chart_group.h"
#include "gui/theme/qcustomplot.h"
#include "gui/theme/theme.h"

using namespace heddle::gui;

namespace {

void show(LineChart& chart) {
  chart.resize(480, 260);
  chart.show();
  (void)QTest::qWaitForWindowExposed(&chart);
}

QStringList tickLabels(const LineChart& chart) {
  const auto* plot = chart.findChild<QCustomPlot*>();
  const auto labels = plot->yAxis->tickVectorLabels();
  return {labels.begin(), labels.end()};
}

}  // namespace

class LineChartTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void a_flood_of_samples_is_drawn_a_few_times_only() {
    LineChart chart("Loss", Unit::loss);
    chart.addCurve("run", Qt::blue);
    show(chart);
    chart.flush();
    const int before = chart.redraws();
    for (int step = 1; step <= 2000; ++step) {
      chart.append(0, step, 4.0);
      if (step % 100 == 0) QCoreApplication::processEvents();
    }
    QVERIFY(chart.redraws() - before <= 4);
    QTRY_COMPARE_WITH_TIMEOUT(chart.xRange().high, 2000.0, 5000);
    QTRY_VERIFY_WITH_TIMEOUT(chart.redraws() > before, 5000);
    const int after = chart.redraws();
    QTest::qWait(600);
    QCOMPARE(chart.redraws(), after);  // nothing changed, nothing is drawn
  }

  void ticks_are_round_in_the_unit_shown() {
    LineChart memory("Memory", Unit::bytes);
    memory.addCurve("run", Qt::blue);
    show(memory);
    for (int step = 1; step <= 50; ++step)
      memory.append(0, step, (1.0 + step * 0.02) * (1LL << 30));
    memory.flush();
    for (const QString& label : tickLabels(memory)) QVERIFY2(label.size() <= 4, qPrintable(label));
    QCOMPARE(memory.crosshairText(50), (QStringList{"step 50", "2.00 GiB"}));

    LineChart rate("Throughput", Unit::tokensPerSecond);
    rate.addCurve("run", Qt::blue);
    show(rate);
    for (int step = 1; step <= 50; ++step) rate.append(0, step, 5000 + step * 40);
    rate.flush();
    QVERIFY(tickLabels(rate).contains("6,000"));
    QCOMPARE(rate.crosshairText(1200)[1], QString("7,000 tok/s"));
  }

  void warm_up_is_cut_off_in_long_runs_only() {
    LineChart rate("Throughput", Unit::tokensPerSecond);
    rate.addCurve("run", Qt::blue);
    rate.setWarmUp(3);
    show(rate);
    const auto* plot = rate.findChild<QCustomPlot*>();
    for (int step = 1; step <= 12; ++step) rate.append(0, step, step <= 3 ? 1000 : 5000);
    rate.flush();
    QVERIFY(plot->yAxis->range().contains(1000));
    for (int step = 13; step <= 60; ++step) rate.append(0, step, 5000);
    rate.flush();
    QVERIFY(!plot->yAxis->range().contains(1000));
    QVERIFY(plot->yAxis->range().contains(5000));
  }

  void keys_zoom_and_read_off() {
    LineChart chart("Loss", Unit::loss);
    chart.addCurve("run", Qt::blue);
    chart.setSmoothing(0.5);
    show(chart);
    for (int step = 1; step <= 100; ++step) chart.append(0, step, 100.0 / step);
    chart.flush();
    QTest::keyClick(&chart, Qt::Key_W);
    QVERIFY(!chart.showsAll());
    QVERIFY(chart.xRange().high - chart.xRange().low < 80);
    QTest::keyClick(&chart, Qt::Key_F);
    QVERIFY(chart.showsAll());
    QTest::keyClick(&chart, Qt::Key_Right);  // the crosshair begins at the end
    QTest::keyClick(&chart, Qt::Key_Left);
    QVERIFY2(chart.accessibleDescription().startsWith("step 99, raw 1.010, smooth "),
             qPrintable(chart.accessibleDescription()));
  }

  void a_zoomed_view_stays_while_the_run_goes_on() {
    LineChart chart("Loss", Unit::loss);
    chart.addCurve("run", Qt::blue);
    show(chart);
    for (int step = 1; step <= 100; ++step) chart.append(0, step, 1);
    chart.flush();
    auto* plot = chart.findChild<QCustomPlot*>();
    const QRect area = plot->axisRect()->rect();
    QTest::mousePress(plot, Qt::LeftButton, {},
                      {area.left() + area.width() / 4, area.center().y()});
    QTest::mouseMove(plot, area.center());
    QTest::mouseRelease(plot, Qt::LeftButton, {},
                        {area.left() + area.width() / 2, area.center().y()});
    QVERIFY(qAbs(chart.xRange().low - 25) < 2);
    QVERIFY(qAbs(chart.xRange().high - 50) < 2);
    chart.append(0, 101, 1);
    chart.flush();
    QVERIFY(chart.xRange().high < 60);
    QTest::mouseDClick(plot, Qt::LeftButton, {}, area.center());
    QCOMPARE(chart.xRange().high, 101.0);
  }

  void charts_of_a_group_share_axis_and_crosshair() {
    LineChart loss("Loss", Unit::loss);
    LineChart rate("Throughput", Unit::tokensPerSecond);
    loss.addCurve("run", Qt::blue);
    rate.addCurve("run", Qt::blue);
    show(loss);
    show(rate);
    ChartGroup group;
    group.add(&loss);
    group.add(&rate);
    for (int step = 1; step <= 100; ++step) loss.append(0, step, 1);
    for (int step = 1; step <= 50; ++step) rate.append(0, step, 10);
    loss.flush();
    rate.flush();
    QCOMPARE(rate.xRange().high, 100.0);
    QTest::keyClick(&loss, Qt::Key_W);
    QCOMPARE(rate.xRange().low, loss.xRange().low);
    QCOMPARE(rate.xRange().high, loss.xRange().high);
    QTest::keyClick(&rate, Qt::Key_F);
    QVERIFY(loss.showsAll());
  }

  void values_that_are_not_finite_leave_a_gap_and_are_named() {
    LineChart chart("Loss", Unit::loss);
    chart.addCurve("run", Qt::blue);
    show(chart);
    chart.append(0, 1, 2);
    chart.append(0, 2, std::nan(""));
    chart.append(0, 3, 2);
    chart.flush();
    QCOMPARE(chart.crosshairText(2), (QStringList{"step 2", "NaN"}));
    QVERIFY(!chart.grab().isNull());
  }
};

QTEST_MAIN(LineChartTest)
#include "line_chart_test.moc"
