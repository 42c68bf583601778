// A timeline with its tools and tables, as a person uses it.
#include "gui/timeline/timeline_view.h"

#include <QHeaderView>
#include <QMenu>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <QVBoxLayout>

#include "gui/theme/theme.h"
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
    QTest::keyClick(&shown.timeline(), Qt::Key_F, Qt::ControlModifier);
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

  void a_wide_and_low_view_has_the_table_beside_the_lanes() {
    const ShownView shown({1400, 380});
    shown.drag(0, 100'000);
    QTRY_VERIFY(shown.statistics());
    QCOMPARE(shown.view->orientation(), Qt::Horizontal);
  }
};

HEDDLE_WIDGET_TEST(TimelineViewTest)
#include "timeline_view_test.moc"
