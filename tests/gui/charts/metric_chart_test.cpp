// The chart of one metric over a real store: resolution, smoothing, x, ranks, groups, differences.
#include "gui/charts/metric_chart.h"

#include <QCheckBox>
#include <QComboBox>
#include <QSlider>
#include <QTableView>
#include <QTest>

#include "gui/charts/chart_export.h"
#include "gui/charts/chart_options.h"
#include "gui/theme/qcustomplot.h"
#include "tests/gui/charts/board_store.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

MetricChart* chartOf(ChartBoard& board) { return board.charts().front(); }

void zoomIn(ChartBoard& board, int times) {
  for (int i = 0; i < times; ++i) QTest::keyClick(chartOf(board), Qt::Key_W);
  wait(board);
}

}  // namespace

class MetricChartTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void a_long_run_is_read_as_fine_as_it_is_shown_and_every_sample_on_zoom() {
    BoardStore store;
    const auto run = store.run("long");
    store.steps(run, 1, 20'000);
    ChartBoard board(*store.session);
    board.setDefaults({{.metric = "loss"}});
    board.setRuns({store.shown(run, "long")});
    showBoard(board, {600, 300});
    auto* chart = chartOf(board);
    QVERIFY(chart->series(0).size() < 5000);
    QVERIFY(chart->series(0).low()[10] < chart->series(0).high()[10]);  // extremes stay
    QCOMPARE(chart->xExtent().high, 20'000.0);
    zoomIn(board, 12);
    const Range shown = chart->xRange();
    QVERIFY(shown.high - shown.low < 300);
    size_t inside = 0;
    for (size_t i = 0; i < chart->series(0).size(); ++i) {
      const double x = chart->series(0).x()[i];
      if (x < shown.low || x > shown.high) continue;
      ++inside;
      QCOMPARE(chart->series(0).y()[i], BoardStore::lossAt(int64_t(x)));
    }
    QVERIFY(inside >= size_t(shown.high - shown.low));
    QCOMPARE(chart->xExtent().high, 20'000.0);  // one can zoom out again
  }

  void smoothing_is_the_same_at_every_width_and_zoom() {
    BoardStore store;
    const auto run = store.run("long");
    store.steps(run, 1, 20'000);
    Ema ema{.half_life = 50};
    std::vector<double> right(20'001);
    for (int step = 1; step <= 20'000; ++step)
      right[size_t(step)] = ema.next(step, BoardStore::lossAt(step));
    for (const int width : {500, 1300}) {
      ChartBoard board(*store.session);
      board.setDefaults({{.metric = "loss", .smoothing = 50}});
      board.setRuns({store.shown(run, "long")});
      showBoard(board, {width, 300});
      for (const int zooms : {0, 4, 8}) {
        zoomIn(board, zooms);
        const Series& smooth = chartOf(board)->smooth(0);
        QVERIFY(smooth.size() > 100);
        for (size_t i = 0; i < smooth.size(); ++i)
          QVERIFY2(std::abs(smooth.y()[i] - right[size_t(smooth.x()[i])]) < 1e-12,
                   qPrintable(QString::number(smooth.x()[i])));
      }
    }
  }

  // It is what a chart that reads all of it shows.
  void a_curve_goes_on_from_where_it_ended() {
    for (const ChartX x : {ChartX::step, ChartX::time}) {
      BoardStore store;
      const auto run = store.run("going on");
      const std::vector<ChartSpec> charts{{.metric = "loss", .x = x},
                                          {.metric = "tokens_per_second", .x = x}};
      ChartBoard board(*store.session);
      board.setDefaults(charts);
      board.setRuns({store.shown(run, "run")});
      store.steps(run, 1, 6000);
      store.steps(run, 1, 6000, 0, 1);
      showBoard(board);
      for (int64_t step = 6001; step < 6400; step += 100) {
        // A rank is ahead of the other, in turn.
        const int first = step % 200 == 1 ? 0 : 1;
        for (const int rank : {first, 1 - first}) {
          store.steps(run, step, step + 99, 0, rank);
          board.refresh();
          wait(board);
          wait(board);
        }
      }
      ChartBoard whole(*store.session);
      whole.setDefaults(charts);
      whole.setRuns({store.shown(run, "run")});
      showBoard(whole);
      for (size_t i = 0; i < charts.size(); ++i) {
        const MetricChart &grown = *board.charts()[i], &right = *whole.charts()[i];
        QCOMPARE(grown.xExtent().high, right.xExtent().high);
        const Series &smooth = grown.smooth(0), &wanted = right.smooth(0);
        QVERIFY(std::abs(smooth.lastY() - wanted.lastY()) < 1e-12);
        QCOMPARE(smooth.lastX(), wanted.lastX());
        QCOMPARE(grown.series(0).lastX(), right.series(0).lastX());
        for (size_t k = 1; k < grown.series(0).size(); ++k) {
          QVERIFY(grown.series(0).x()[k] > grown.series(0).x()[k - 1]);
          if (i == 1) QCOMPARE(grown.series(0).y()[k], 500.5);  // never one rank's alone
        }
      }
    }
  }

  void a_rank_that_is_read_late_changes_the_curve_from_its_beginning() {
    BoardStore store;
    const auto run = store.run("imported");
    store.steps(run, 1, 100);
    ChartBoard board(*store.session);
    board.setDefaults({{.metric = "tokens_per_second", .smoothing = 0}});
    board.setRuns({store.shown(run, "run")});
    showBoard(board);
    QCOMPARE(chartOf(board)->series(0).y()[3], 500.0);
    store.steps(run, 1, 100, 0, 1);
    board.refresh();
    QTRY_COMPARE_WITH_TIMEOUT(chartOf(board)->series(0).y()[3], 500.5, 20000);
  }

  void x_is_tokens_or_time_as_well_as_steps() {
    BoardStore store;
    const auto run = store.run("a");
    store.steps(run, 1, 50);
    ChartBoard board(*store.session);
    board.setDefaults({{.metric = "loss", .x = ChartX::tokens}});
    board.setRuns({store.shown(run, "a")});
    showBoard(board);
    auto* chart = chartOf(board);
    QCOMPARE(chart->series(0).x()[9], 10'000.0);
    QVERIFY(chart->crosshairText(10'000)[0].startsWith("tokens 10"));
    ChartSpec spec = chart->spec();
    spec.x = ChartX::time;
    chart->setSpec(spec);
    wait(board);
    QTRY_COMPARE_WITH_TIMEOUT(chart->curves(), 1, 20000);
    QVERIFY(std::abs(chart->series(0).x()[9] - chart->series(0).x()[8] - 0.5) < 1e-6);
    // The clock is each step's own, not that of the start before the first step.
    spec.x = ChartX::clock;
    chart->setSpec(spec);
    wait(board);
    QTRY_COMPARE_WITH_TIMEOUT(chart->curves(), 1, 20000);
    QTRY_COMPARE(chart->series(0).x()[9], 1e9 + 5);
  }

  // The epoch of a log grows by one each ten steps, and begins again once: a person chooses it in
  // the chart's options.
  void x_is_another_metric_where_it_grows() {
    BoardStore store;
    const auto run = store.run("a");
    uint64_t seq = 0;
    std::string bytes =
        must(telemetry::encode(telemetry::Start{1e9, 0, 1, "planned", {}, {}}, seq++));
    for (int64_t step = 1; step <= 100; ++step)
      bytes += must(telemetry::encode(
          telemetry::Step{step,
                          1e9 + static_cast<double>(step),
                          {{"loss", BoardStore::lossAt(step)},
                           {"epoch", step == 50 ? 0 : static_cast<double>(step) / 10}}},
          seq++));
    must(store.writer->ingest(run, 0, 0, 0, bytes).get());
    ChartBoard board(*store.session);
    board.setDefaults({{.metric = "loss", .smoothing = 0}});
    board.setRuns({store.shown(run, "a")});
    showBoard(board);
    auto* chart = chartOf(board);
    ChartOptions options(*chart);
    QComboBox* x = nullptr;
    for (auto* box : options.findChildren<QComboBox*>())
      if (box->accessibleName() == "x") x = box;
    QTRY_VERIFY(x->findText("epoch") > 0);
    QVERIFY(x->findData("loss") < 0);
    x->setCurrentIndex(x->findText("epoch"));
    Q_EMIT x->activated(x->currentIndex());
    wait(board);
    QTRY_COMPARE_WITH_TIMEOUT(chart->curves(), 1, 20000);
    QTRY_COMPARE_WITH_TIMEOUT(chart->series(0).size(), size_t(100), 20000);
    QCOMPARE(chart->series(0).x()[19], 2.0);
    QCOMPARE(chart->series(0).x()[49], 5.0);
    QCOMPARE(chart->series(0).x()[99], 10.0);
    QVERIFY(chart->crosshairText(2)[0].startsWith("epoch 2"));
    QCOMPARE(chart->detail(),
             QString("epoch does not grow at 1 step, placed between the neighbours"));
    QVERIFY(chartSpec(toJson(chart->spec())) == chart->spec());
    QCOMPARE(ChartOptions(*chart).findChild<QComboBox*>()->currentText(), QString("epoch"));
  }

  // A sample that jumps ten years ahead is placed between its neighbours, later samples do not
  // move, and the chart says so. It may arrive while the run continues.
  void a_clock_that_jumps_leaves_the_other_samples_in_place() {
    BoardStore store;
    const auto run = store.run("a");
    store.steps(run, 1, 39);
    auto& [seq, at] = store.logs[{run, 0}];
    const std::string bytes =
        must(telemetry::encode(telemetry::Step{40, 1e9 + 3.15e8, {{"loss", 4}}}, seq++));
    must(store.writer->ingest(run, 0, 0, at, bytes).get());
    at += bytes.size();
    ChartBoard board(*store.session);
    board.setDefaults({{.metric = "loss", .x = ChartX::clock, .smoothing = 0}});
    board.setRuns({store.shown(run, "a")});
    showBoard(board);
    auto* chart = chartOf(board);
    QTRY_COMPARE_WITH_TIMEOUT(chart->series(0).size(), size_t(40), 20000);
    store.steps(run, 41, 80);
    board.refresh();
    QTRY_COMPARE_WITH_TIMEOUT(chart->series(0).size(), size_t(80), 20000);
    QVERIFY(std::abs(chart->series(0).x()[39] - (1e9 + 20)) < 1e-3);
    QVERIFY(std::abs(chart->series(0).x()[79] - (1e9 + 40)) < 1e-3);
    QCOMPARE(chart->detail(), QString("the clock jumps at 1 step, placed between the neighbours"));
  }

  void ranks_are_one_curve_or_each_its_own() {
    BoardStore store;
    const auto run = store.run("two ranks");
    store.steps(run, 1, 10, 0, 0);
    store.steps(run, 1, 10, 0, 1);
    ChartBoard board(*store.session);
    board.setDefaults({{.metric = "tokens_per_second", .smoothing = 0}});
    board.setRuns({store.shown(run, "run")});
    showBoard(board);
    auto* chart = chartOf(board);
    QCOMPARE(chart->series(0).y()[3], 500.5);  // the mean
    ChartSpec spec = chart->spec();
    spec.rank = kEachRank;
    chart->setSpec(spec);
    wait(board);
    QTRY_COMPARE_WITH_TIMEOUT(chart->curves(), 2, 20000);
    QCOMPARE(chart->name(1), QString("run, rank 1"));
    QCOMPARE(chart->series(1).y()[3], 501.0);
  }

  void a_group_is_its_mean_and_range_with_the_number_of_runs() {
    BoardStore store;
    std::vector<BoardRun> runs;
    for (int i = 0; i < 3; ++i) {
      const auto run = store.run("seed " + std::to_string(i));
      store.steps(run, 1, i == 2 ? 5 : 10, i);
      runs.push_back(store.shown(run, QString("seed %1").arg(i), i, "lr 3e-4"));
    }
    ChartBoard board(*store.session);
    board.setDefaults({{.metric = "loss", .smoothing = 0}});
    board.setRuns(runs);
    showBoard(board);
    auto* chart = chartOf(board);
    QCOMPARE(chart->curves(), 1);
    const double first = BoardStore::lossAt(1);
    QCOMPARE(chart->series(0).low()[0], first);
    QCOMPARE(chart->series(0).high()[0], first + 2);
    QVERIFY(std::abs(chart->series(0).y()[0] - first - 1) < 1e-12);
    QVERIFY2(chart->crosshairText(1)[1].endsWith("n 3"), qPrintable(chart->crosshairText(1)[1]));
    QVERIFY(chart->crosshairText(8)[1].endsWith("n 2"));
    ChartSpec spec = chart->spec();
    spec.aggregate = false;
    chart->setSpec(spec);
    QCOMPARE(chart->curves(), 3);
  }

  void a_difference_is_taken_where_both_are_and_says_where_they_are_not() {
    BoardStore store;
    const auto base = store.run("base"), sparse = store.run("sparse"), later = store.run("later");
    store.steps(base, 1, 100);
    store.steps(sparse, 5, 200, 1, 0, 5);
    store.steps(later, 150, 160);
    ChartBoard board(*store.session);
    board.setDefaults({{.metric = "grad_norm", .smoothing = 0, .difference = true}});
    board.setBaseline(base);
    board.setRuns({store.shown(base, "base"), store.shown(sparse, "sparse", 1),
                   store.shown(later, "later", 2)});
    showBoard(board);
    auto* chart = chartOf(board);
    QCOMPARE(chart->curves(), 1);
    QCOMPARE(chart->series(0).lastX(), 100.0);
    QCOMPARE(chart->series(0).y()[3], 0.0);
    chart->flush();
    QVERIFY2(chart->note().contains("later: no step in common with base"),
             qPrintable(chart->note()));
  }

  // It said that it was reading for ever, once something else than its runs had changed.
  void a_metric_that_no_run_has_is_not_waited_for() {
    BoardStore store;
    const auto run = store.run("without");
    store.steps(run, 1, 50);
    ChartBoard board(*store.session);
    board.setDefaults({{.metric = "validation_loss"}});
    board.setRuns({store.shown(run, "without")});
    showBoard(board, {600, 300});
    board.setRuns({store.shown(run, "without")});
    board.setBaseline(run);
    wait(board);
    chartOf(board)->flush();
    QStringList words;
    for (const auto* item : chartOf(board)->findChildren<QCPItemText*>()) words << item->text();
    QVERIFY2(words.contains("no step has reported it"), qPrintable(words.join(" | ")));
  }

  void a_run_is_filled_from_lowest_to_highest_on_request() {
    BoardStore store;
    const auto run = store.run("a");
    store.steps(run, 1, 20'000);
    ChartBoard board(*store.session);
    board.setDefaults({{.metric = "loss"}});
    board.setRuns({store.shown(run, "a")});
    showBoard(board);
    auto* chart = chartOf(board);
    QTRY_COMPARE_WITH_TIMEOUT(chart->curves(), 1, 20000);
    // A band is pale where the lines of its samples would have left gaps.
    const auto colours = [&] {
      QHash<QRgb, int> count;
      const QImage picture = chart->grab().toImage();
      for (int y = 0; y < picture.height(); ++y)
        for (int x = 0; x < picture.width(); ++x) ++count[picture.pixel(x, y)];
      return count;
    };
    const QColor line = runStroke(0, Scheme::dark).color;
    const QRgb pale = blend(colors().surface, line, 0.22).rgb();
    const auto near = [&] {
      int pixels = 0;
      const auto all = colours();
      for (auto each = all.begin(); each != all.end(); ++each)
        if (std::abs(qRed(each.key()) - qRed(pale)) < 4 &&
            std::abs(qGreen(each.key()) - qGreen(pale)) < 4 &&
            std::abs(qBlue(each.key()) - qBlue(pale)) < 4)
          pixels += each.value();
      return pixels;
    };
    const int before = near();
    ChartSpec spec = chart->spec();
    spec.band = true;
    QCOMPARE(chartSpec(toJson(spec)), spec);
    chart->setSpec(spec);
    wait(board);
    QTRY_VERIFY_WITH_TIMEOUT(near() > before + 5000, 20000);
  }

  void hidden_runs_are_not_drawn_and_values_are_sorted_at_the_cursor() {
    BoardStore store;
    std::vector<BoardRun> runs;
    for (int i = 0; i < 3; ++i) {
      const auto run = store.run(std::string(1, char('a' + i)));
      store.steps(run, 1, 10, i);
      runs.push_back(store.shown(run, QString(QChar('a' + i)), i));
    }
    ChartBoard board(*store.session);
    board.setDefaults({{.metric = "loss", .smoothing = 0}});
    board.setRuns(runs);
    showBoard(board);
    auto* chart = chartOf(board);
    chart->flush();
    QVERIFY(chart->crosshairText(5)[1].startsWith("c "));
    QVERIFY(chart->crosshairText(5)[3].startsWith("a "));
    runs[2].hidden = true;
    board.setRuns(runs);
    wait(board);
    QCOMPARE(chart->curves(), 2);
    QVERIFY(chart->crosshairText(5)[1].startsWith("b "));
  }

  void options_are_set_by_keys_in_the_popup() {
    BoardStore store;
    const auto run = store.run("a");
    store.steps(run, 1, 100);
    ChartBoard board(*store.session);
    board.setDefaults({{.metric = "loss"}});
    board.setRuns({store.shown(run, "a")});
    showBoard(board);
    auto* card = named<ChartCard>("Loss");
    QContextMenuEvent menu(QContextMenuEvent::Keyboard, card->rect().center(),
                           card->mapToGlobal(card->rect().center()));
    QApplication::sendEvent(card, &menu);
    QTest::keyClick(QApplication::activePopupWidget(), Qt::Key_Down);
    QTest::keyClick(QApplication::activePopupWidget(), Qt::Key_Return);
    auto* slider = named<QSlider>("smoothing");
    QVERIFY(slider);
    QTest::keyClick(slider, Qt::Key_Home);
    QCOMPARE(card->spec().smoothing, 0.0);
    for (auto* box : slider->window()->findChildren<QCheckBox*>())
      if (box->text() == "logarithmic y") QTest::keyClick(box, Qt::Key_Space);
    QVERIFY(card->spec().logY);
    const auto* plot = card->findChild<QCustomPlot*>();
    QCOMPARE(plot->yAxis->scaleType(), QCPAxis::stLogarithmic);
    QTest::keyClicks(named<QLineEdit>("highest y"), "8");
    card->flush();
    QCOMPARE(plot->yAxis->range().upper, 8.0);
    QTest::keyClicks(named<QLineEdit>("lowest y"), "x");
    QVERIFY(!named<QLineEdit>("lowest y")->toolTip().isEmpty());
    QVERIFY(!card->spec().limits.low);
    QTest::keyClick(named<QLineEdit>("lowest y"), Qt::Key_Escape);
    QTRY_VERIFY(!QApplication::activePopupWidget());
  }

  void a_chart_is_saved_as_picture_drawing_and_values() {
    BoardStore store;
    const auto run = store.run("a");
    store.steps(run, 1, 30);
    ChartBoard board(*store.session);
    board.setDefaults({{.metric = "loss"}});
    board.setRuns({store.shown(run, "a")});
    showBoard(board);
    chartOf(board)->flush();
    const auto saved = [&](const QString& ending) {
      const QString file = store.folder.filePath("loss" + ending);
      must(saveChart(*chartOf(board), file));
      QFile written(file);
      return written.open(QIODevice::ReadOnly) ? written.readAll() : QByteArray();
    };
    QVERIFY(saved(".svg").contains("<polyline"));
    QVERIFY(saved(".svg").contains("Loss"));
    QVERIFY(QImage::fromData(saved(".png")).width() > 1000);
    const QList<QByteArray> rows = saved(".csv").split('\n');
    QCOMPARE(rows[0], QByteArray("step,a,\"a, smoothed\""));
    QCOMPARE(rows.size(), 32);
    const auto refused = saveChart(*chartOf(board), store.folder.filePath("loss.bmp"));
    QVERIFY(!refused && refused.error().message.find(".png, .svg or .csv") != std::string::npos);
  }

  void the_table_has_the_values_of_all_curves() {
    BoardStore store;
    const auto a = store.run("a"), b = store.run("b");
    store.steps(a, 1, 5);
    store.steps(b, 4, 8);
    ChartBoard board(*store.session);
    board.setDefaults({{.metric = "tokens_per_second", .smoothing = 0}});
    board.setRuns({store.shown(a, "a"), store.shown(b, "b", 1)});
    showBoard(board);
    auto* card = named<ChartCard>("Tokens per second");
    QContextMenuEvent menu(QContextMenuEvent::Keyboard, {}, card->mapToGlobal(QPoint()));
    QApplication::sendEvent(card, &menu);
    for (int i = 0; i < 2; ++i) QTest::keyClick(QApplication::activePopupWidget(), Qt::Key_Down);
    QTest::keyClick(QApplication::activePopupWidget(), Qt::Key_Return);
    auto* table = named<QTableView>("Values of Tokens per second");
    QVERIFY(table);
    QCOMPARE(table->model()->rowCount(), 8);
    QCOMPARE(table->model()->headerData(2, Qt::Horizontal).toString(), QString("b"));
    QCOMPARE(table->model()->index(0, 1).data().toString(), QString("500 tok/s"));
    QCOMPARE(table->model()->index(0, 2).data().toString(), QString());
    table->window()->close();
  }

  void samples_that_are_not_finite_stay_marked_in_a_long_run() {
    BoardStore store;
    const auto run = store.run("a");
    store.steps(run, 1, 9000);
    store.steps(run, 9001, 9001, NAN);
    store.steps(run, 9002, 20'000);
    ChartBoard board(*store.session);
    board.setDefaults({{.metric = "loss"}});
    board.setRuns({store.shown(run, "a")});
    showBoard(board, {600, 300});
    QCOMPARE(chartOf(board)->series(0).notFinite().size(), size_t(1));
    QVERIFY(std::abs(chartOf(board)->series(0).notFinite()[0] - 9001) < 32);
  }
};

HEDDLE_WIDGET_TEST(MetricChartTest)
#include "metric_chart_test.moc"
