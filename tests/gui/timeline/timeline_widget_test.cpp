// The timeline as a person uses it: keys, wheel, dragging, the tooltip's span, search.
#include "gui/timeline/timeline_widget.h"

#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>

#include "gui/theme/theme.h"
#include "tests/gui/timeline/sample_step.h"
#include "tests/support/test_class.h"

using namespace heddle::gui;

namespace {

class Shown {
 public:
  explicit Shown(int rows = 2, QSize size = {1000, 400}) {
    std::vector<TimelineRow> all;
    for (int row = 0; row < rows; ++row) {
      TimelineRow timeline;
      timeline.title = QString("rank %1").arg(row);
      timeline.timeline = sampleStep();
      all.push_back(timeline);
    }
    widget.resize(size);
    widget.setRows(std::move(all));
    widget.show();
    widget.setFocus();
    (void)QTest::qWaitForWindowExposed(&widget);
  }
  QPoint at(int64_t us, size_t row = 0, Stream stream = Stream::compute) const {
    const QRect lane = widget.layoutOfRows().rows[row].lanes[static_cast<size_t>(stream)];
    return {static_cast<int>(std::lround(widget.axis().toPixel(static_cast<double>(us)))),
            lane.center().y() - widget.verticalScrollBar()->value()};
  }
  void drag(int64_t from, int64_t to) {
    QWidget* area = widget.viewport();
    QTest::mousePress(area, Qt::LeftButton, {}, at(from));
    QTest::mouseMove(area, at((from + to) / 2));
    QTest::mouseMove(area, at(to));
    QTest::mouseRelease(area, Qt::LeftButton, {}, at(to));
  }
  double span() const { return widget.axis().endUs - widget.axis().beginUs; }

  TimelineWidget widget;
};

}  // namespace

class TimelineWidgetTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void keys_zoom_pan_and_fit() {
    Shown shown;
    QCOMPARE(shown.span(), 100'000.0);
    QTest::keyClick(&shown.widget, Qt::Key_W);
    QTest::keyClick(&shown.widget, Qt::Key_W);
    QVERIFY(shown.span() < 50'000);
    const double begin = shown.widget.axis().beginUs;
    QTest::keyClick(&shown.widget, Qt::Key_D);
    QVERIFY(shown.widget.axis().beginUs > begin);
    QTest::keyClick(&shown.widget, Qt::Key_A);
    QVERIFY(qAbs(shown.widget.axis().beginUs - begin) < 1);
    QTest::keyClick(&shown.widget, Qt::Key_S);
    QVERIFY(shown.span() > 50'000);
    QTest::keyClick(&shown.widget, Qt::Key_F);
    QCOMPARE(shown.span(), 100'000.0);
  }

  void the_wheel_zooms_where_the_pointer_is() {
    Shown shown;
    const QPoint at = shown.at(25'000);
    const double before = shown.widget.axis().toTime(at.x());
    QWheelEvent wheel(at, shown.widget.viewport()->mapToGlobal(at), {}, {0, 240}, Qt::NoButton,
                      Qt::NoModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(shown.widget.viewport(), &wheel);
    QVERIFY(shown.span() < 80'000);
    QVERIFY(qAbs(shown.widget.axis().toTime(at.x()) - before) < 1);
  }

  void dragging_selects_and_gives_statistics() {
    Shown shown;
    QSignalSpy changed(&shown.widget, &TimelineWidget::selectionChanged);
    shown.drag(80'000, 95'000);
    QVERIFY(!changed.isEmpty());
    const auto selection = shown.widget.selection();
    QVERIFY(selection);
    // A pixel is about 120 µs here.
    QVERIFY(qAbs(selection->begin - 80'000) < 200);
    QVERIFY(qAbs(selection->end - 95'000) < 200);
    const Statistics s = shown.widget.statistics(0);
    QVERIFY(qAbs(s.compute - 10'000) < 400);
    QVERIFY(qAbs(s.communication - 10'000) < 400);
    QVERIFY(qAbs(s.exposed - 5'000) < 10);
    QCOMPARE(s.idle, s.range - s.compute - s.exposed);
    QTest::keyClick(&shown.widget, Qt::Key_F);
    QVERIFY(qAbs(shown.span() - 15'000) < 400);
    QTest::keyClick(&shown.widget, Qt::Key_Escape);
    QVERIFY(!shown.widget.selection());
    QCOMPARE(shown.widget.statistics(0).exposed, 5'000);
  }

  void full_stop_and_comma_walk_along_the_lane() {
    Shown shown;
    QTest::keyClick(&shown.widget, Qt::Key_Period);
    QCOMPARE(shown.widget.current()->span, 0u);
    QTest::keyClick(&shown.widget, Qt::Key_Period);
    QTest::keyClick(&shown.widget, Qt::Key_Period);
    QCOMPARE(shown.widget.current()->span, 2u);
    QTest::keyClick(&shown.widget, Qt::Key_Comma);
    QCOMPARE(shown.widget.current()->span, 1u);
    QVERIFY2(shown.widget.accessibleDescription().startsWith("layers.1.attention.wq, mm · forward"),
             qPrintable(shown.widget.accessibleDescription()));
    QTest::keyClick(&shown.widget, Qt::Key_Down);
    QCOMPARE(shown.widget.current()->lane, (LaneRef{0, Stream::communication}));
    QTest::keyClick(&shown.widget, Qt::Key_Down);
    QCOMPARE(shown.widget.current()->lane, (LaneRef{1, Stream::compute}));
  }

  void walking_on_keeps_the_span_in_sight() {
    Shown shown;
    shown.widget.zoomTo({0, 5'000});
    for (int i = 0; i < 5; ++i) QTest::keyClick(&shown.widget, Qt::Key_Period);
    QCOMPARE(shown.widget.current()->span, 4u);
    QVERIFY(shown.widget.axis().toPixel(62'000) > 0);
    QVERIFY(shown.widget.axis().beginUs > 40'000);
  }

  void a_click_chooses_the_span_under_it() {
    Shown shown;
    const QPoint at = shown.at(86'000, 1, Stream::communication);
    QTest::mouseClick(shown.widget.viewport(), Qt::LeftButton, {}, at);
    QVERIFY(shown.widget.current());
    QCOMPARE(*shown.widget.current(), (SpanRef{{1, Stream::communication}, 1}));
    QVERIFY2(shown.widget.accessibleDescription().contains("5.00 ms of it exposed"),
             qPrintable(shown.widget.accessibleDescription()));
    QTest::mouseClick(shown.widget.viewport(), Qt::LeftButton, {},
                      shown.at(60'000, 1, Stream::communication));
    QVERIFY(!shown.widget.current());
  }

  void backspace_goes_back_through_the_views() {
    Shown shown;
    shown.widget.zoomTo({20'000, 40'000});
    shown.widget.zoomTo({25'000, 30'000});
    QTest::keyClick(&shown.widget, Qt::Key_Backspace);
    QCOMPARE(shown.widget.axis().beginUs, 20'000.0);
    QTest::keyClick(&shown.widget, Qt::Key_Backspace);
    QVERIFY(shown.widget.axis().showsAll());
    QTest::keyClick(&shown.widget, Qt::Key_Backspace);  // there is none before
    QVERIFY(shown.widget.axis().showsAll());
    QTest::keyClick(&shown.widget, Qt::Key_Backspace, Qt::ShiftModifier);
    QTest::keyClick(&shown.widget, Qt::Key_Backspace, Qt::ShiftModifier);
    QCOMPARE(shown.widget.axis().endUs, 30'000.0);
  }

  void a_few_steps_of_zoom_are_gone_back_from_at_once() {
    Shown shown;
    for (int i = 0; i < 5; ++i) QTest::keyClick(&shown.widget, Qt::Key_W);
    QTest::keyClick(&shown.widget, Qt::Key_Backspace);
    QVERIFY(shown.widget.axis().showsAll());
  }

  void search_counts_and_dims_the_rest() {
    Shown shown(1);
    const auto colorAt = [&](int64_t us) {
      return shown.widget.viewport()->grab().toImage().pixelColor(shown.at(us) - QPoint(0, 12));
    };
    const QColor before = colorAt(82'000);
    shown.widget.setSearch("ATTENTION.wq");
    QCOMPARE(shown.widget.matches(), 4);
    QVERIFY(colorAt(82'000) != before);
    shown.widget.setSearch({});
    QCOMPARE(colorAt(82'000), before);
  }

  void a_zoomed_view_stays_when_the_next_step_arrives() {
    Shown shown;
    shown.widget.zoomTo({20'000, 40'000});
    shown.widget.setRows(shown.widget.rows());
    QCOMPARE(shown.widget.axis().beginUs, 20'000.0);
    QCOMPARE(shown.widget.axis().endUs, 40'000.0);
  }

  void many_rows_scroll_under_the_axis() {
    Shown shown(32);
    QVERIFY(shown.widget.verticalScrollBar()->maximum() > 0);
    shown.widget.verticalScrollBar()->setValue(shown.widget.verticalScrollBar()->maximum());
    QTest::mouseClick(shown.widget.viewport(), Qt::LeftButton, {}, shown.at(45'000, 31));
    QCOMPARE(shown.widget.current()->lane.row, 31u);
  }

  void rows_of_different_lengths_share_the_axis() {
    Shown shown;
    auto rows = shown.widget.rows();
    rows[1].shiftUs = 60'000;
    shown.widget.setRows(rows);
    QCOMPARE(shown.widget.axis().lengthUs, 160'000.0);
    shown.widget.select(Interval{60'000, 100'000});
    QCOMPARE(shown.widget.statistics(1).compute, 40'000);  // forward of the shifted row
    QCOMPARE(shown.widget.statistics(1).communication, 4'000);
  }

  void nothing_recorded_is_said() {
    TimelineWidget widget;
    widget.setEmptyText("No profiled step yet");
    widget.resize(600, 200);
    widget.show();
    QTest::keyClick(&widget, Qt::Key_Period);
    QTest::keyClick(&widget, Qt::Key_W);
    QVERIFY(!widget.current());
    TimelineRow row;
    row.title = "rank 0";
    widget.setRows({row});
    QTest::keyClick(&widget, Qt::Key_Period);
    QVERIFY(!widget.grab().isNull());
    QCOMPARE(widget.accessibleDescription(), QString("rank 0: nothing recorded."));
  }
};

HEDDLE_WIDGET_TEST(TimelineWidgetTest)
#include "timeline_widget_test.moc"
