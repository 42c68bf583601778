// A timeline with its tools and tables, as a person uses it.
#include "gui/timeline/timeline_view.h"

#include <QHeaderView>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMenu>
#include <QScrollBar>
#include <QTemporaryDir>
#include <QTest>
#include <QVBoxLayout>

#include "gui/theme/theme.h"
#include "gui/timeline/span_text.h"
#include "gui/timeline/step_counters.h"
#include "gui/timeline/timeline_export.h"
#include "gui/timeline/transfer_ends.h"
#include "tests/gui/timeline/sample_step.h"
#include "tests/support/test_class.h"

using namespace heddle::gui;

namespace {

/// A view of two ranks with its tools above it.
class ShownView {
 public:
  explicit ShownView(QSize size = {1000, 700}, int ranks = 2) {
    auto* column = new QVBoxLayout(&window);
    view = new TimelineView;
    column->addWidget(view->tools());
    column->addWidget(view, 1);
    std::vector<TimelineRow> rows;
    for (int rank = 0; rank < ranks; ++rank) {
      TimelineRow row;
      row.title = QString("rank %1").arg(rank);
      row.timeline = sampleStep();
      row.rank = rank;
      rows.push_back(row);
    }
    view->timeline()->setRows(std::move(rows));
    window.resize(size);
    window.show();
    (void)QTest::qWaitForWindowExposed(&window);
    window.activateWindow();
    view->timeline()->setFocus();
  }

  template <typename Widget>
  Widget* named(const QString& name) const {
    for (Widget* each : window.findChildren<Widget*>())
      if (each->accessibleName() == name && each->isVisible()) return each;
    return nullptr;
  }
  TimelineWidget& timeline() const { return *view->timeline(); }
  QPoint at(int64_t us) const {
    const QRect lane = timeline().layoutOfRows().rows[0].lanes[0];
    return {static_cast<int>(timeline().axis().toPixel(static_cast<double>(us))),
            lane.center().y()};
  }
  void drag(int64_t from, int64_t to) const {
    QWidget* area = timeline().viewport();
    QTest::mousePress(area, Qt::LeftButton, {}, at(from));
    QTest::mouseMove(area, at((from + to) / 2));
    QTest::mouseMove(area, at(to));
    QTest::mouseRelease(area, Qt::LeftButton, {}, at(to));
  }
  /// A click on the row's name.
  void label(size_t row) const {
    QTest::mouseClick(timeline().viewport(), Qt::LeftButton, {},
                      {40, timeline().layoutOfRows().rows[row].whole.center().y()});
  }
  QTableView* statistics() const { return named<QTableView>("Statistics by name"); }
  QString cell(int row, int column) const {
    const auto* model = statistics()->model();
    return model->index(row, column).data().toString();
  }

  QWidget window;
  TimelineView* view;
};

}  // namespace

class TimelineViewTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void a_dragged_stretch_opens_its_statistics() {
    const ShownView shown;
    QVERIFY(!shown.statistics());
    shown.drag(0, 100'000);
    QVERIFY(shown.statistics());
    QTRY_COMPARE(shown.cell(0, NameStatisticsModel::Name), QString("mm_backward"));
    QCOMPARE(shown.cell(0, NameStatisticsModel::Count), QString("2"));  // of two ranks
    QTest::keyClick(&shown.timeline(), Qt::Key_Escape);
    QVERIFY(!shown.statistics());
  }

  void a_prediction_does_not_add_to_a_measurement() {
    const ShownView shown;
    auto rows = shown.timeline().rows();
    rows.push_back(rows.front());
    rows.back().title = "predicted";
    rows.back().run = 1;
    shown.timeline().setRows(rows);
    shown.drag(0, 100'000);
    QTRY_COMPARE(shown.cell(0, NameStatisticsModel::Count), QString("2"));  // of two ranks
    shown.label(2);
    QTRY_COMPARE(shown.cell(0, NameStatisticsModel::Count), QString("1"));
  }

  void a_click_on_a_column_sorts_by_it() {
    const ShownView shown;
    shown.drag(0, 100'000);
    QTRY_VERIFY(shown.statistics() && shown.statistics()->model()->rowCount() == 5);
    QHeaderView* header = shown.statistics()->horizontalHeader();
    const auto click = [&](int column) {
      QTest::mouseClick(header->viewport(), Qt::LeftButton, {},
                        {header->sectionViewportPosition(column) + 20, header->height() / 2});
    };
    click(NameStatisticsModel::Exposed);
    if (header->sortIndicatorOrder() == Qt::AscendingOrder) click(NameStatisticsModel::Exposed);
    QCOMPARE(shown.cell(0, NameStatisticsModel::Name), QString("reduce_scatter"));
    click(NameStatisticsModel::Name);
    if (header->sortIndicatorOrder() == Qt::DescendingOrder) click(NameStatisticsModel::Name);
    QCOMPARE(shown.cell(0, NameStatisticsModel::Name), QString("adamw"));
  }

  // A few pixels beside the edges of a span the drag takes the edges.
  void a_drag_goes_from_edge_to_edge_of_spans() {
    const ShownView shown;
    const QPoint from = shown.at(10'000) + QPoint(3, 0), to = shown.at(40'000) - QPoint(3, 0);
    QWidget* area = shown.timeline().viewport();
    QTest::mousePress(area, Qt::LeftButton, {}, from);
    QTest::mouseMove(area, (from + to) / 2);
    QTest::mouseMove(area, to);
    QTest::mouseRelease(area, Qt::LeftButton, {}, to);
    QVERIFY(shown.timeline().selection() == (Interval{10'000, 40'000}));
    QTRY_VERIFY(shown.statistics() && shown.statistics()->model()->rowCount() == 1);
    for (const int column :
         {NameStatisticsModel::Mean, NameStatisticsModel::Shortest, NameStatisticsModel::Longest})
      QCOMPARE(shown.cell(0, column), QString("10.0 ms"));
    // A part of a span is the shortest.
    shown.drag(5'000, 40'000);
    QTRY_VERIFY(shown.cell(0, NameStatisticsModel::Shortest) != QString("10.0 ms"));
    QCOMPARE(shown.cell(0, NameStatisticsModel::Longest), QString("10.0 ms"));
  }

  void a_row_of_the_table_is_highlighted_on_the_lanes() {
    const ShownView shown;
    shown.drag(0, 100'000);
    QTRY_VERIFY(shown.statistics() && shown.statistics()->model()->rowCount() == 5);
    QCOMPARE(shown.cell(1, NameStatisticsModel::Name), QString("mm"));
    const QModelIndex row = shown.statistics()->model()->index(1, 0);
    QTest::mouseClick(shown.statistics()->viewport(), Qt::LeftButton, {},
                      shown.statistics()->visualRect(row).center());
    QCOMPARE(shown.timeline().matches(), 8);
  }

  void enter_walks_through_the_matches_and_counts_them() {
    const ShownView shown;
    QTest::keyClick(&shown.timeline(), Qt::Key_Slash);
    auto* field = shown.named<QLineEdit>("Find an operator or module");
    QTRY_VERIFY(field->hasFocus());
    QTest::keyClicks(field, "attention");
    auto* count = shown.window.findChild<QLabel*>("matches");
    QCOMPARE(count->text(), QString("8"));
    QTest::keyClick(field, Qt::Key_Return);
    QCOMPARE(count->text(), QString("1 of 8"));
    QTest::keyClick(field, Qt::Key_Return);
    QCOMPARE(count->text(), QString("2 of 8"));
    QTest::keyClick(field, Qt::Key_Return, Qt::ShiftModifier);
    QTest::keyClick(field, Qt::Key_Return, Qt::ShiftModifier);
    QCOMPARE(count->text(), QString("8 of 8"));  // round
    QCOMPARE(shown.timeline().current()->lane.row, size_t{1});
    QTest::mouseClick(shown.named<QToolButton>("Next match"), Qt::LeftButton);
    QCOMPARE(count->text(), QString("1 of 8"));
    QTest::keyClick(field, Qt::Key_Escape);
    QVERIFY(shown.timeline().found().empty());
    QVERIFY(shown.timeline().hasFocus());
  }

  void a_text_that_nothing_has_counts_none() {
    const ShownView shown;
    QTest::keyClick(&shown.timeline(), Qt::Key_Slash);
    auto* field = shown.named<QLineEdit>("Find an operator or module");
    QTest::keyClicks(field, "no such");
    QTest::keyClick(field, Qt::Key_Return);
    QCOMPARE(shown.window.findChild<QLabel*>("matches")->text(), QString("0"));
    QVERIFY(!shown.timeline().current());
  }

  void p_pins_a_row_which_then_does_not_scroll() {
    const ShownView shown({900, 500}, 40);
    TimelineWidget& timeline = shown.timeline();
    shown.label(3);
    QTest::keyClick(&timeline, Qt::Key_P);
    QCOMPARE(timeline.layoutOfRows().order.front(), size_t{3});
    timeline.verticalScrollBar()->setValue(timeline.verticalScrollBar()->maximum());
    const QPoint at(static_cast<int>(timeline.axis().toPixel(2'000)),
                    timeline.layoutOfRows().rows[3].lanes[0].center().y());
    QTest::mouseClick(timeline.viewport(), Qt::LeftButton, {}, at);
    QVERIFY(timeline.current());
    QCOMPARE(timeline.current()->lane.row, size_t{3});
    QTest::keyClick(&timeline, Qt::Key_P);
    QCOMPARE(timeline.layoutOfRows().order.front(), size_t{0});
  }

  void c_collapses_and_h_hides_rows() {
    const ShownView shown({900, 500}, 4);
    TimelineWidget& timeline = shown.timeline();
    const int before = timeline.layoutOfRows().rows[0].whole.height();
    QTest::keyClick(&timeline, Qt::Key_C);
    QVERIFY(timeline.layoutOfRows().rows[0].whole.height() < before);
    QTest::keyClick(&timeline, Qt::Key_C, Qt::ShiftModifier);
    QVERIFY(timeline.layoutOfRows().rows[3].collapsed);
    QTest::keyClick(&timeline, Qt::Key_C, Qt::ShiftModifier);
    QVERIFY(!timeline.layoutOfRows().rows[0].collapsed);
    QTest::keyClick(&timeline, Qt::Key_H);
    QCOMPARE(timeline.layoutOfRows().order, (std::vector<size_t>{1, 2, 3}));
    for (int i = 0; i < 3; ++i) QTest::keyClick(&timeline, Qt::Key_H);
    QVERIFY(timeline.layoutOfRows().order.empty());
    QVERIFY(!timeline.grab().isNull());  // it says how to show them
    QTest::keyClick(&timeline, Qt::Key_H, Qt::ShiftModifier);
    QCOMPARE(timeline.layoutOfRows().order.size(), size_t{4});
  }

  void the_menu_filters_rows_and_streams() {
    const ShownView shown({900, 500}, 16);
    TimelineWidget& timeline = shown.timeline();
    QTest::mouseClick(shown.named<QToolButton>("Lanes and more of the timeline"), Qt::LeftButton);
    auto* menu = shown.view->findChild<QMenu*>();
    QVERIFY(menu);
    auto* field = menu->findChild<QLineEdit*>();
    QCOMPARE(field->accessibleName(), QString("Rows: 0-7, 12 or a name"));
    QTest::keyClicks(field, "2-4, 9");
    QCOMPARE(timeline.layoutOfRows().order, (std::vector<size_t>{2, 3, 4, 9}));
    field->clear();
    QTest::keyClicks(field, "rank 1");
    QCOMPARE(timeline.layoutOfRows().order.size(), size_t{7});  // 1 and 10 to 15
    field->clear();
    for (QAction* action : menu->actions())
      if (action->text() == "Communication lanes") action->trigger();
    QVERIFY(timeline.layoutOfRows().rows[0].lanes[1].isNull());
    QVERIFY(!timeline.layoutOfRows().rows[0].lanes[0].isNull());
    menu->close();
  }

  void the_choice_of_lanes_is_remembered() {
    const QTemporaryDir settings;
    qputenv("XDG_CONFIG_HOME", settings.path().toUtf8());
    const ShownView first({900, 500}, 4);
    first.view->keepLanesAs("test/lanes");
    first.label(2);
    QTest::keyClick(&first.timeline(), Qt::Key_P);
    QTest::keyClick(&first.timeline(), Qt::Key_C);
    const ShownView second({900, 500}, 4);
    second.view->keepLanesAs("test/lanes");
    QCOMPARE(second.timeline().lanes(), first.timeline().lanes());
    QCOMPARE(second.timeline().layoutOfRows().order.front(), size_t{2});
  }

  void a_chosen_transfer_names_its_other_end_and_draws_to_it() {
    const ShownView shown;
    TimelineWidget& timeline = shown.timeline();
    const QRect lane = timeline.layoutOfRows().rows[0].lanes[1];
    const QPoint at(static_cast<int>(timeline.axis().toPixel(7'000)), lane.center().y());
    const auto ends = endsOf(timeline.rows(), {{0, Stream::communication}, 0});
    QVERIFY(ends && ends->others.size() == 1);
    QCOMPARE(ends->others.front(), (SpanRef{{1, Stream::communication}, 0}));
    QTest::mouseClick(timeline.viewport(), Qt::LeftButton, {}, at);
    QVERIFY2(timeline.accessibleDescription().contains("with rank 1"),
             qPrintable(timeline.accessibleDescription()));
    const QRect other = timeline.layoutOfRows().rows[1].lanes[1];
    const QPoint between(static_cast<int>(timeline.axis().toPixel(5'000)) + 1,
                         (lane.bottom() + other.top()) / 2 + 1);
    QTest::mouseMove(timeline.viewport(), {300, 5});
    const QColor drawn = timeline.viewport()->grab().toImage().pixelColor(between);
    QTest::keyClick(&timeline, Qt::Key_Escape);
    QVERIFY(timeline.viewport()->grab().toImage().pixelColor(between) != drawn);
  }

  void k_shows_the_critical_path_and_what_to_make_faster() {
    const ShownView shown;
    TimelineWidget& timeline = shown.timeline();
    QTest::keyClick(&timeline, Qt::Key_K);
    auto* table = shown.named<QTableView>("Critical path: what would have to be faster");
    QVERIFY(table);
    QTRY_VERIFY(table->model()->rowCount() > 0);
    QVERIFY(!timeline.path().empty());
    QCOMPARE(table->model()->index(0, HurdleModel::Name).data().toString(), QString("mm_backward"));
    QTest::keyClick(&timeline, Qt::Key_K);
    QVERIFY(!shown.named<QTableView>("Critical path: what would have to be faster"));
    QVERIFY(timeline.path().empty());
  }

  void hidden_rows_and_lanes_are_neither_counted_nor_found_nor_saved() {
    const ShownView shown;
    TimelineWidget& timeline = shown.timeline();
    shown.drag(0, 100'000);
    QTRY_COMPARE(shown.cell(0, NameStatisticsModel::Count), QString("2"));  // of two ranks
    timeline.setSearch("mm");
    QCOMPARE(timeline.matches(), int64_t{10});
    LaneChoice lanes;
    lanes.hidden = {timeline.rows()[0].title};
    timeline.setLanes(lanes);
    QCOMPARE(timeline.matches(), int64_t{5});
    timeline.goToMatch(1);
    QCOMPARE(timeline.current()->lane.row, size_t{1});
    QCOMPARE(timeline.shownRows().size(), size_t{1});
    QCOMPARE(timeline.shownRows()[0].title, timeline.rows()[1].title);
    QTRY_COMPARE(shown.cell(0, NameStatisticsModel::Count), QString("1"));
    lanes.streams[0] = false;
    timeline.setLanes(lanes);
    QCOMPARE(timeline.matches(), int64_t{0});
  }

  void the_exported_trace_has_the_same_totals() {
    const ShownView shown;
    const QTemporaryDir folder;
    const QString path = folder.filePath("trace.json");
    QVERIFY(writeTrace(shown.timeline().rows(), path));
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QMap<int, qint64> total;  // by stream
    for (const auto& event : QJsonDocument::fromJson(file.readAll())["traceEvents"].toArray())
      if (event.toObject()["ph"] == QStringLiteral("X"))
        total[event.toObject()["tid"].toInt()] += event.toObject()["dur"].toInteger();
    QCOMPARE(total[0], qint64{2 * 95'000});
    QCOMPARE(total[1], qint64{2 * 14'000});
  }

  void the_picture_is_saved_as_png_and_svg() {
    const ShownView shown;
    const QTemporaryDir folder;
    QVERIFY(writePicture(shown.timeline(), folder.filePath("a.png")));
    QCOMPARE(QImage(folder.filePath("a.png")).size(), shown.timeline().size());
    QVERIFY(writePicture(shown.timeline(), folder.filePath("a.svg")));
    QFile svg(folder.filePath("a.svg"));
    QVERIFY(svg.open(QIODevice::ReadOnly));
    QVERIFY(svg.readAll().contains("<svg"));
    QVERIFY(!writePicture(shown.timeline(), folder.filePath("no/such/a.png")));
    QVERIFY(!writeTrace(shown.timeline().rows(), folder.filePath("no/such/a.json")));
  }

  void bytes_in_flight_are_a_lane() {
    const ShownView shown;
    TimelineWidget& timeline = shown.timeline();
    auto rows = timeline.rows();
    rows[0].counters = {
        std::make_shared<const Counter>(Counter{"in flight", {{5'000, 4096.0}, {9'000, 0.0}}, {}})};
    timeline.setRows(rows);
    QVERIFY(timeline.layoutOfRows().rows[0].counters.empty());
    QTest::keyClick(&timeline, Qt::Key_M);
    QCOMPARE(timeline.layoutOfRows().rows[0].counters.size(), size_t{1});
    const QRect lane = timeline.layoutOfRows().rows[0].counters[0];
    const auto colorAt = [&](int64_t us) {
      const int x = static_cast<int>(timeline.axis().toPixel(static_cast<double>(us)));
      return timeline.viewport()->grab().toImage().pixelColor(x, lane.center().y());
    };
    QVERIFY(colorAt(7'000) != colorAt(50'000));
  }

  // Measured memory and its prediction, the larger one, are drawn to one scale, in the colours of
  // their uses.
  void memory_is_a_lane_by_its_uses() {
    using heddle::plan::Category;
    const ShownView shown;
    TimelineWidget& timeline = shown.timeline();
    const auto counterOf = [&](const TimelineRow& row, int64_t activations) {
      std::vector<heddle::plan::MemoryMoment> moments{{0, {}}, {20'000, {}}};
      for (auto& moment : moments) moment.bytes[Category::parameters] = int64_t{1} << 20;
      moments[1].bytes[Category::activations] = activations;
      return countersOf(*row.timeline, nullptr, 0, moments);
    };
    auto rows = timeline.rows();
    rows[0].counters = counterOf(rows[0], int64_t{1} << 20);
    rows[1].counters = counterOf(rows[1], int64_t{3} << 20);
    timeline.setRows(rows);
    QTest::keyClick(&timeline, Qt::Key_M);
    const auto laneOf = [&](size_t row) {
      return timeline.layoutOfRows().rows[row].counters.at(0);
    };
    const auto xOf = [&](int64_t us) {
      return static_cast<int>(timeline.axis().toPixel(static_cast<double>(us)));
    };
    const auto colorAt = [&](size_t row, int64_t us, double height) {
      const QRect lane = laneOf(row);
      return timeline.viewport()->grab().toImage().pixelColor(
          xOf(us), lane.bottom() - static_cast<int>(height * lane.height()));
    };
    for (const size_t row : {0, 1}) QCOMPARE(colorAt(row, 10'000, 0.12), colors().parameters);
    QCOMPARE(colorAt(0, 30'000, 0.4), colors().activations);
    QVERIFY(colorAt(0, 30'000, 0.7) != colors().activations);
    QCOMPARE(colorAt(1, 30'000, 0.7), colors().activations);

    const SpanText text = describeCounter(*rows[1].counters[0], 30'000);
    QCOMPARE(text.title, QString("memory, 4.00 MiB at 30.0 ms"));
    QCOMPARE(text.lines, (QStringList{"3.00 MiB activations", "1.00 MiB parameters"}));
    // Under the pointer the same is said over the lanes.
    const QImage before = timeline.viewport()->grab().toImage();
    QTest::mouseMove(timeline.viewport(), QPoint(xOf(30'000), laneOf(0).center().y()));
    QTRY_VERIFY(timeline.viewport()->grab().toImage().pixelColor(xOf(30'000) + 40,
                                                                 laneOf(0).center().y() + 30) !=
                before.pixelColor(xOf(30'000) + 40, laneOf(0).center().y() + 30));
    QVERIFY(timeline.accessibleDescription().contains("memory: 4.00 MiB at most."));
  }

  void spans_that_cannot_be_are_drawn_and_named() {
    const ShownView shown;
    std::vector<heddle::telemetry::Span> spans{{"mm", "a", 100, -50, 0, 0},
                                               {"mm", "a", 0, 500, 0, 1},
                                               {"mm", "b", 100, 500, 0, 0},
                                               {"all_gather", "a", -300, 100, 1, 0}};
    TimelineRow row;
    row.title = "odd";
    row.rank = 0;
    row.timeline = std::make_shared<Timeline>(std::move(spans));
    shown.timeline().setRows({row});
    QVERIFY(!shown.timeline().grab().isNull());
    for (int i = 0; i < 4; ++i) QTest::keyClick(&shown.timeline(), Qt::Key_Period);
    QTest::keyClick(&shown.timeline(), Qt::Key_Comma);
    QTest::keyClick(&shown.timeline(), Qt::Key_Comma);
    bool named = false;
    for (size_t span = 0; span < 3; ++span)
      named |= describeSpan(shown.timeline().rows(), {{0, Stream::compute}, span})
                   .lines.join(' ')
                   .contains("ends before it begins");
    QVERIFY(named);
    QTest::keyClick(&shown.timeline(), Qt::Key_K);
    QTRY_VERIFY(!shown.timeline().path().empty());
  }

  void a_wide_and_low_view_has_the_table_beside_the_lanes() {
    const ShownView shown({1400, 380});
    shown.drag(0, 100'000);
    QTRY_VERIFY(shown.statistics());
    QCOMPARE(shown.view->orientation(), Qt::Horizontal);
  }
};

HEDDLE_WIDGET_TEST(TimelineViewTest)
#include "timeline_view_test.moc"
