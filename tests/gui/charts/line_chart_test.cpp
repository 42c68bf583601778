// A chart as a person uses it: it grows, is zoomed, is read off; units and ticks.
#include "gui/charts/line_chart.h"

#include <QTest>
#include <QWheelEvent>
#include <cmath>

#include "gui/charts/chart_group.h"
#include "gui/charts/legend.h"
#include "gui/theme/qcustomplot.h"
#include "gui/theme/theme.h"
#include "tests/support/test_class.h"

using namespace heddle::gui;
using heddle::Unit;

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

  void a_legend_without_room_says_how_many_more_and_lists_them() {
    Legend legend;
    QVector<LegendEntry> entries;
    for (int i = 1; i <= 5; ++i) entries.append({QStringLiteral("run-%1").arg(i), Qt::blue});
    legend.setEntries(entries);
    legend.resize(legend.sizeHint());
    legend.show();
    QVERIFY(QTest::qWaitForWindowExposed(&legend));
    auto* more = legend.findChild<QPushButton*>(QStringLiteral("moreCurves"));
    QVERIFY(!more->isVisible());
    for (int width = legend.sizeHint().width() - 11; width >= legend.minimumSizeHint().width();
         width -= 7) {
      legend.setFixedWidth(width);
      QVERIFY(more->isVisible());
      QVERIFY2(more->geometry().right() < width, qPrintable(more->text()));
      QVERIFY2(more->fontMetrics().horizontalAdvance(more->text()) <= more->width(),
               qPrintable(more->text()));
    }
    legend.setFixedWidth(200);
    QCOMPARE(more->text(), QString("+3 more"));
    legend.setFixedWidth(legend.minimumSizeHint().width());
    QCOMPARE(more->text(), QString("5 curves"));
    QTest::mouseClick(more, Qt::LeftButton);
    auto* list = legend.findChild<QFrame*>(QStringLiteral("allCurves"));
    QVERIFY(list && list->isVisible());
    QCOMPARE(list->findChildren<Legend*>().size(), 5);
    QCOMPARE(list->findChildren<Legend*>().last()->accessibleName(), QString("run-5"));
    list->close();
    // Names are shortened before one is left out.
    entries.clear();
    for (const char* name : {"llama-8b-pretrain-seed-1", "llama-8b-pretrain-seed-2", "short"})
      entries.append({QString(name), Qt::blue});
    legend.setEntries(entries);
    legend.setFixedWidth(legend.sizeHint().width() - 60);
    QVERIFY(!more->isVisible());
    legend.setFixedWidth(260);
    QCOMPARE(more->text(), QString("+1 more"));
    // A single curve is shown even if its name hardly fits.
    legend.setEntries({{QString(80, 'x'), Qt::blue}});
    legend.setFixedWidth(50);
    QVERIFY(!more->isVisible());
  }

  void of_many_smoothed_curves_only_the_highlighted_one_shows_its_samples() {
    LineChart chart("Loss", Unit::loss);
    chart.setSmoothing(10);
    for (int curve = 0; curve < 20; ++curve) chart.addCurve({}, Qt::red);
    show(chart);
    for (int curve = 0; curve < 20; ++curve)
      for (int step = 1; step <= 99; ++step) chart.append(curve, step, step == 50 ? 9.0 : 1.0);
    const auto pixelsOfTheSpike = [&] {
      chart.flush();
      auto* plot = chart.findChild<QCustomPlot*>();
      const QImage image = plot->grab().toImage();
      int red = 0;  // halfway up, where no smoothed curve comes
      const int y = static_cast<int>(plot->yAxis->coordToPixel(7));
      for (int x = plot->axisRect()->left(); x < plot->axisRect()->right(); ++x) {
        const QColor at = image.pixelColor(x, y);
        red += at.red() > at.blue() + 20;
      }
      return red;
    };
    QCOMPARE(pixelsOfTheSpike(), 0);
    chart.setHighlighted(3, true);
    QVERIFY(pixelsOfTheSpike() > 0);
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

    LineChart rate("Throughput", Unit::tokens_per_second);
    rate.addCurve("run", Qt::blue);
    show(rate);
    for (int step = 1; step <= 50; ++step) rate.append(0, step, 5000 + step * 40);
    rate.flush();
    QVERIFY(tickLabels(rate).contains("6,000"));
    QCOMPARE(rate.crosshairText(1200)[1], QString("7,000 tok/s"));
  }

  void warm_up_is_cut_off_in_long_runs_only() {
    LineChart rate("Throughput", Unit::tokens_per_second);
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
    chart.setSmoothing(1);
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

  // A run that was resumed begins where its parent ended.
  void the_crosshair_is_at_one_step_and_names_who_was_there() {
    LineChart chart("Loss", Unit::loss);
    for (const char* name : {"resumed", "first", "forked"}) chart.addCurve(name, Qt::blue);
    show(chart);
    for (int step = 1; step <= 540; ++step) chart.append(1, step, 6);
    for (int step = 541; step <= 1000; ++step) chart.append(0, step, 5), chart.append(2, step, 4);
    chart.flush();
    QCOMPARE(chart.crosshairText(64), (QStringList{"step 64", "first 6.000"}));
    QCOMPARE(chart.crosshairText(540.4), (QStringList{"step 540", "first 6.000"}));
    QCOMPARE(chart.crosshairText(541), (QStringList{"step 541", "resumed 5.000", "forked 4.000"}));
    chart.setCrosshair(541);
    QTest::keyClick(&chart, Qt::Key_Left);  // from one run's steps to the other's
    QCOMPARE(chart.accessibleDescription(), QString("step 540, first 6.000"));
  }

  void a_sample_of_another_step_says_so() {
    LineChart chart("Loss", Unit::loss);
    for (const char* name : {"each", "every tenth"}) chart.addCurve(name, Qt::blue);
    show(chart);
    for (int step = 1; step <= 100; ++step) chart.append(0, step, 6);
    for (int step = 10; step <= 100; step += 10) chart.append(1, step, 5);
    chart.flush();
    QCOMPARE(chart.crosshairText(64),
             (QStringList{"step 64", "each 6.000", "every tenth 5.000 at step 60"}));
    QCOMPARE(chart.crosshairText(5), (QStringList{"step 5", "each 6.000"}));
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
    LineChart rate("Throughput", Unit::tokens_per_second);
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

  void the_wheel_scrolls_the_page_unless_the_chart_is_meant() {
    QWidget window;
    auto* chart = new LineChart("Loss", Unit::loss, &window);
    chart->addCurve("run", Qt::blue);
    chart->resize(480, 260);
    window.resize(480, 260);
    window.show();
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    for (int step = 1; step <= 100; ++step) chart->append(0, step, 1);
    chart->flush();
    auto* plot = chart->findChild<QCustomPlot*>();
    const auto turn = [plot](Qt::KeyboardModifiers modifiers) {
      const QPointF at = plot->axisRect()->rect().center();
      QWheelEvent event(at, plot->mapToGlobal(at), {}, {0, 120}, Qt::NoButton, modifiers,
                        Qt::NoScrollPhase, false);
      QApplication::sendEvent(plot, &event);
      return event.isAccepted();
    };
    chart->clearFocus();
    QVERIFY(!turn({}));  // the view around the chart gets it
    QVERIFY(chart->showsAll());
    QVERIFY(turn(Qt::ControlModifier));
    QVERIFY(!chart->showsAll());
    QTest::keyClick(chart, Qt::Key_F);
    QVERIFY(chart->showsAll());
    QTest::mouseClick(plot, Qt::LeftButton, {}, plot->axisRect()->rect().center());
    QVERIFY(chart->hasFocus());
    QVERIFY(turn({}));
    QVERIFY(!chart->showsAll());
    QVERIFY(chart->toolTip().contains("Ctrl"));
  }

  // At whatever width, wherever the curve is, whatever is marked.
  void words_are_whole_and_nothing_goes_through_them() {
    for (const int width : {180, 280, 480})
      for (const double predicted : {990.0, 1000.5, 1020.0})
        for (const int marked : {2, 50, 99}) {
          LineChart chart("Throughput", Unit::tokens_per_second);
          chart.addCurve("run", Qt::blue);
          chart.setReferences({{predicted, "predicted"}, {predicted + 15, "limit"}});
          chart.setMark(ChartMark{double(marked), "step 1,204: 23.1 % longer than predicted"});
          show(chart);
          chart.resize(width, 200);
          for (int step = 1; step <= 100; ++step) chart.append(0, step, 1000 + step % 2);
          chart.flush();
          const auto* plot = chart.findChild<QCustomPlot*>();
          const QRectF area = plot->axisRect()->rect();
          const double top = plot->yAxis->coordToPixel(1001), low = plot->yAxis->coordToPixel(1000);
          QList<QRectF> places;
          for (int i = 0; i < plot->itemCount(); ++i) {
            const auto* words = qobject_cast<QCPItemText*>(plot->item(i));
            if (!words || !words->visible()) continue;
            const QRectF place(words->topLeft->pixelPosition(),
                               words->bottomRight->pixelPosition());
            QVERIFY2(QRectF(plot->rect()).contains(place), qPrintable(words->text()));
            for (const QRectF& other : places) QVERIFY(!place.intersects(other));
            places << place;
            if (place.top() < area.top()) QVERIFY(place.bottom() <= area.top());
            if (words->text() == "predicted" || words->text() == "limit")
              QVERIFY2(place.bottom() < top || place.top() > low, qPrintable(words->text()));
          }
          QVERIFY(places.size() >= 4);  // the axis has a name, too
        }
  }

  // A run that was resumed begins at a step with many digits, and a tick can be in every corner.
  void ticks_keep_clear_of_the_words() {
    for (const int width : {180, 280, 480})
      for (int first = 2180; first <= 2220; first += 4) {
        LineChart chart("Throughput", Unit::tokens_per_second);
        chart.addCurve("run", Qt::blue);
        chart.setMark(ChartMark{double(first), "step 2,204: 35.8 % longer than predicted"});
        show(chart);
        chart.resize(width, 200);
        for (int step = first; step <= first + 180; ++step)
          chart.append(0, step, step % 2 ? 2000 : 7300 + (first - 2180) * 20);
        chart.flush();
        const auto* plot = chart.findChild<QCustomPlot*>();
        const QFontMetrics metrics(plot->xAxis->tickLabelFont());
        const QRectF area = plot->axisRect()->rect();
        QList<QRectF> ticks;
        const auto labels = [](const QCPAxis* axis) { return axis->tickVectorLabels(); };
        for (int i = 0; i < labels(plot->xAxis).size(); ++i) {
          const double x = plot->xAxis->coordToPixel(plot->xAxis->tickVector()[i]);
          const int wide = metrics.horizontalAdvance(labels(plot->xAxis)[i]);
          if (x >= area.left())
            ticks << QRectF(x - wide / 2.0, area.bottom() + 6, wide, metrics.height());
        }
        for (int i = 0; i < labels(plot->yAxis).size(); ++i) {
          const double y = plot->yAxis->coordToPixel(plot->yAxis->tickVector()[i]);
          const int wide = metrics.horizontalAdvance(labels(plot->yAxis)[i]);
          if (y >= area.top())
            ticks << QRectF(area.left() - 6 - wide, y - metrics.ascent() / 2.0, wide,
                            metrics.ascent());
        }
        QVERIFY(ticks.size() >= 3);
        for (int i = 0; i < plot->itemCount(); ++i) {
          const auto* words = qobject_cast<QCPItemText*>(plot->item(i));
          if (!words || !words->visible()) continue;
          const QMargins padding = words->padding();
          const QRectF place =
              QRectF(words->topLeft->pixelPosition(), words->bottomRight->pixelPosition())
                  .marginsRemoved(padding);
          for (const QRectF& tick : ticks)
            QVERIFY2(!place.intersects(tick), qPrintable(words->text()));
        }
      }
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

HEDDLE_WIDGET_TEST(LineChartTest)
#include "line_chart_test.moc"
