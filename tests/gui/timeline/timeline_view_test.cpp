// A timeline with its tools and tables, as a person uses it.
#include "gui/timeline/timeline_view.h"

#include <QHeaderView>
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
  explicit ShownView(QSize size = {1000, 700}) {
    auto* column = new QVBoxLayout(&window);
    view = new TimelineView;
    column->addWidget(view->tools());
    column->addWidget(view, 1);
    std::vector<TimelineRow> rows;
    for (int rank = 0; rank < 2; ++rank) {
      TimelineRow row;
      row.title = QString("rank %1").arg(rank);
      row.timeline = sampleStep();
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
    shown.statistics()->setFocus();
    QTest::keyClick(shown.statistics(), Qt::Key_Down);
    QTest::keyClick(shown.statistics(), Qt::Key_Down);
    QCOMPARE(shown.cell(1, NameStatisticsModel::Name), QString("mm"));
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

  void a_wide_and_low_view_has_the_table_beside_the_lanes() {
    const ShownView shown({1400, 380});
    shown.drag(0, 100'000);
    QTRY_VERIFY(shown.statistics());
    QCOMPARE(shown.view->orientation(), Qt::Horizontal);
  }
};

HEDDLE_WIDGET_TEST(TimelineViewTest)
#include "timeline_view_test.moc"
