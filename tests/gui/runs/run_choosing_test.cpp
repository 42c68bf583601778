// Choosing rows of the runs table with the mouse, and the columns that a person has arranged.
#include <QContextMenuEvent>
#include <QHeaderView>
#include <QMenu>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "gui/settings.h"
#include "gui/theme/theme.h"
#include "gui/views/runs/runs_page.h"
#include "storage/writer.h"
#include "tests/support/results.h"
#include "tests/support/sample_runs.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

class RunChoosingTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    qputenv("XDG_CONFIG_HOME", settings_.path().toUtf8());
    Theme::install(Theme::Mode::dark);
  }

  void init() {
    session_ = std::make_unique<Session>(store_.path());
    open();
  }

  void cleanup() {
    page_.reset();
    session_.reset();
  }

  void boxesAddUp() {
    tick(store_.runs.whole);
    tick(store_.runs.unwrapped);
    QCOMPARE(chosen(), (QSet<qint64>{store_.runs.whole, store_.runs.unwrapped}));
    tick(store_.runs.failed);
    QCOMPARE(chosen().size(), 3);
    QCOMPARE(action("compareRuns")->text(), QStringLiteral("Compare 3"));
    tick(store_.runs.unwrapped);
    QCOMPARE(chosen(), (QSet<qint64>{store_.runs.whole, store_.runs.failed}));
    QTest::keyClick(table(), Qt::Key_Space);  // the row clicked last
    QCOMPARE(chosen().size(), 3);
  }

  void twoQuickClicksOnABoxAreTwoClicks() {
    tick(store_.runs.whole);
    QSignalSpy opened(session_.get(), &Session::runRequested);
    QTest::mouseDClick(table()->viewport(), Qt::LeftButton, {}, boxOf(store_.runs.failed));
    QCOMPARE(opened.count(), 0);
    QVERIFY(chosen().contains(store_.runs.whole));
  }

  // It is looked at in the drawer; arrows look at the next ones.
  void aClickOnARowKeepsWhatIsTicked() {
    tick(store_.runs.whole);
    tick(store_.runs.unwrapped);
    const QSet<qint64> ticked{store_.runs.whole, store_.runs.unwrapped};
    auto* drawer = page_->findChild<RunDrawer*>();
    QTest::mouseClick(table()->viewport(), Qt::LeftButton, {}, nameOf(store_.runs.failed));
    QCOMPARE(chosen(), ticked);
    QCOMPARE(drawer->run(), store_.runs.failed);
    QTest::keyClick(table(), Qt::Key_Up);
    QCOMPARE(chosen(), ticked);
    QVERIFY(drawer->run() != store_.runs.failed);
    QTest::mouseClick(table()->viewport(), Qt::LeftButton, {}, nameOf(store_.runs.whole));
    QCOMPARE(chosen(), ticked);
    QTest::keyClick(table(), Qt::Key_Escape);
    QCOMPARE(chosen(), QSet<qint64>());
    QVERIFY(!action("untickRuns")->isEnabled());
    QTest::mouseClick(table()->viewport(), Qt::LeftButton, {}, nameOf(store_.runs.failed));
    QCOMPARE(chosen(), QSet<qint64>{store_.runs.failed});  // where none is ticked
  }

  void tenThousandStayTicked() {
    std::vector<RunRow> rows(10'000);
    for (size_t i = 0; i < rows.size(); ++i) {
      rows[i].summary.id = static_cast<storage::RunId>(rows.size() - i);
      rows[i].summary.name = "run-" + std::to_string(i);
      rows[i].summary.state = storage::RunState::done;
    }
    RunsModel model;
    RunLines lines(model);
    RunsTable runs;
    runs.setModel(&lines);
    RunSelection selection(lines);
    runs.setSelectionModel(&selection);
    runs.setSelectionBehavior(QAbstractItemView::SelectRows);
    runs.setSelectionMode(QAbstractItemView::ExtendedSelection);
    runs.resize(1000, 600);
    runs.show();
    model.setRows(rows);
    runs.selectAll();
    QCOMPARE(selection.runs().size(), 10'000);
    const QPoint at = runs.visualRect(lines.index(3, RunsModel::Name)).center();
    QTest::mouseClick(runs.viewport(), Qt::LeftButton, {}, at);
    QCOMPARE(selection.runs().size(), 10'000);
    QCOMPARE(runs.currentIndex().row(), 3);
    model.setRows(rows);  // as when the store has changed
    QCOMPARE(selection.runs().size(), 10'000);
    lines.setFilter(RunFilter("run-99"));
    QCOMPARE(lines.rowCount(), 111);
    QCOMPARE(selection.hidden(), 9'889);
    lines.setFilter(RunFilter());
    QCOMPARE(selection.runs().size(), 10'000);
    QCOMPARE(selection.hidden(), 0);
  }

  // Clicked to be looked at is not ticked to be compared.
  void aClickOnTheRowTicksNothing() {
    const qint64 clicked = store_.runs.failed, other = store_.runs.whole;
    const QImage empty = boxImage(clicked);
    QTest::mouseClick(table()->viewport(), Qt::LeftButton, {}, nameOf(clicked));
    QCOMPARE(chosen(), QSet<qint64>{clicked});
    QTest::mouseClick(table()->viewport(), Qt::LeftButton, {}, nameOf(other));
    QCOMPARE(boxImage(clicked), empty);
    const QImage unticked = boxImage(other);
    tick(other);  // now it is
    QCOMPARE(chosen(), QSet<qint64>{other});
    QVERIFY(boxImage(other) != unticked);
    QTest::keyClick(table(), Qt::Key_Escape);
    QTest::mouseClick(table()->viewport(), Qt::LeftButton, {}, nameOf(clicked));
    tick(other);  // without the one that was only clicked
    QCOMPARE(chosen(), QSet<qint64>{other});
    QTest::keyClick(table(), Qt::Key_Escape);
    // With Control or Shift several are meant, and so shown.
    QTest::mouseClick(table()->viewport(), Qt::LeftButton, {}, nameOf(other));
    QCOMPARE(boxImage(other), unticked);
    QTest::mouseClick(table()->viewport(), Qt::LeftButton, Qt::ControlModifier, nameOf(clicked));
    QCOMPARE(chosen(), (QSet<qint64>{clicked, other}));
    QVERIFY(boxImage(clicked) != empty);
    QTest::keyClick(table(), Qt::Key_Escape);
    QTest::mouseClick(table()->viewport(), Qt::LeftButton, {}, nameOf(other));
    QTest::keyClick(table(), Qt::Key_Space);
    QCOMPARE(chosen(), QSet<qint64>{other});
    QVERIFY(boxImage(other) != unticked);
    QTest::keyClick(table(), Qt::Key_Space);
    QCOMPARE(chosen(), QSet<qint64>());
  }

  void shiftChoosesAllBetween() {
    tick(rowAt(0));
    tick(rowAt(2));
    QTest::mouseClick(table()->viewport(), Qt::LeftButton, Qt::ShiftModifier, boxOf(rowAt(4)));
    QCOMPARE(chosen(), (QSet<qint64>{rowAt(0), rowAt(2), rowAt(3), rowAt(4)}));
  }

  void controlIsAsWithout() {
    tick(store_.runs.whole);
    QTest::mouseClick(table()->viewport(), Qt::LeftButton, Qt::ControlModifier,
                      boxOf(store_.runs.failed));
    QTest::mouseClick(table()->viewport(), Qt::LeftButton, Qt::ControlModifier,
                      nameOf(store_.runs.stopped));
    QCOMPARE(chosen(), (QSet<qint64>{store_.runs.whole, store_.runs.failed, store_.runs.stopped}));
    QTest::mouseClick(table()->viewport(), Qt::LeftButton, Qt::ControlModifier,
                      boxOf(store_.runs.failed));
    QCOMPARE(chosen(), (QSet<qint64>{store_.runs.whole, store_.runs.stopped}));
  }

  void aDragOverBoxesTicksAllOnTheWay() {
    tick(rowAt(0));
    const auto drag = [this](int from, const QList<int>& over) {
      QTest::mousePress(table()->viewport(), Qt::LeftButton, {}, boxOf(rowAt(from)));
      for (const int row : over) QTest::mouseMove(table()->viewport(), boxOf(rowAt(row)));
      QTest::mouseRelease(table()->viewport(), Qt::LeftButton, {}, boxOf(rowAt(over.last())));
    };
    drag(1, {2, 3});
    QCOMPARE(chosen(), (QSet<qint64>{rowAt(0), rowAt(1), rowAt(2), rowAt(3)}));
    drag(3, {1, 2});  // from a ticked one it unticks; what was left again stays
    QCOMPARE(chosen(), (QSet<qint64>{rowAt(0), rowAt(1)}));
  }

  void theHeadersBoxTicksAllThatAreShown() {
    filter(QStringLiteral("state:done"));
    QTRY_COMPARE(table()->model()->rowCount(), 2);
    auto* header = static_cast<RunHeader*>(table()->horizontalHeader());
    const QPoint box(header->sectionViewportPosition(RunsModel::Check) + 14, 16);
    QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, box);
    QCOMPARE(chosen(), (QSet<qint64>{store_.runs.whole, store_.runs.unwrapped}));
    QCOMPARE(header->ticks(), Qt::Checked);
    filter({});
    QCOMPARE(header->ticks(), Qt::PartiallyChecked);
    QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, box);
    QCOMPARE(chosen().size(), 5);
    QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, box);
    QCOMPARE(chosen().size(), 0);
    QCOMPARE(header->ticks(), Qt::Unchecked);
  }

  void sortingKeepsThem() {
    tick(store_.runs.whole);
    tick(store_.runs.failed);
    table()->sortByColumn(RunsModel::Loss, Qt::AscendingOrder);
    QCOMPARE(chosen(), (QSet<qint64>{store_.runs.whole, store_.runs.failed}));
    tick(store_.runs.stopped);
    QCOMPARE(chosen().size(), 3);
  }

  void filteringKeepsThem() {
    tick(store_.runs.failed);
    filter(QStringLiteral("state:done"));
    QCOMPARE(table()->model()->rowCount(), 2);
    tick(store_.runs.whole);
    QCOMPARE(chosen(), (QSet<qint64>{store_.runs.failed, store_.runs.whole}));
    QVERIFY2(page_->subtitle().contains(QStringLiteral("2 selected, 1 of them hidden")),
             qPrintable(page_->subtitle()));
    page_->activated();  // as the window does when the store changes
    QTRY_VERIFY(page_->isReady());
    QCOMPARE(chosen().size(), 2);
    filter({});
    QCOMPARE(chosen(), (QSet<qint64>{store_.runs.failed, store_.runs.whole}));
    // Without ticks a choice leaves out what is hidden too.
    filter(QStringLiteral("state:done"));
    QTest::keyClick(table(), Qt::Key_Escape);
    QTest::mouseClick(table()->viewport(), Qt::LeftButton, {}, nameOf(store_.runs.unwrapped));
    QCOMPARE(chosen(), QSet<qint64>{store_.runs.unwrapped});
    filter({});
    QCOMPARE(chosen(), QSet<qint64>{store_.runs.unwrapped});
  }

  // Resume of one run by its menu, then two others ticked: they are two.
  // trackio's issue 395: a new run arrived, and other runs than before were shown.
  void aNewRunLeavesTheTicksWhereTheyWere() {
    tick(store_.runs.whole);
    tick(store_.runs.failed);
    const auto before = chosen();
    const auto writer = must(storage::Writer::open(store_.path().toStdString()));
    storage::NewRun run;
    run.name = "aaa-new";
    const auto id = must(writer->create_run(run)).id;
    page_->activated();
    QTRY_COMPARE(table()->model()->rowCount(), 6);
    QCOMPARE(chosen(), before);
    must(writer->remove(id));
  }

  void theMenuIsOfTheRowItPointsAt() {
    QSignalSpy asked(session_.get(), &Session::continueRequested);
    inMenuOf(store_.runs.whole, [](QMenu* menu) {
      QAction* compare = menu->findChild<QAction*>(QStringLiteral("menuCompare"));
      QVERIFY(compare && !compare->isEnabled());
      for (QAction* one : menu->actions())
        if (one->objectName() == QStringLiteral("resumeRun")) one->trigger();
    });
    QCOMPARE(asked.count(), 1);
    QCOMPARE(asked[0][0].toLongLong(), store_.runs.whole);
    QVERIFY(chosen().isEmpty());
    tick(store_.runs.failed);
    tick(store_.runs.stopped);
    QCOMPARE(action("discardRuns")->text(), QStringLiteral("Move 2 runs to the trash"));
    // A chosen run's menu is for all that are chosen.
    inMenuOf(store_.runs.failed, [](QMenu* menu) {
      QCOMPARE(menu->findChild<QAction*>(QStringLiteral("menuCompare"))->text(),
               QStringLiteral("Compare 2"));
    });
    inMenuOf(store_.runs.whole, [this](QMenu*) {
      QCOMPARE(action("discardRuns")->text(), QStringLiteral("Move to the trash"));
    });
    QCOMPARE(chosen(), (QSet<qint64>{store_.runs.failed, store_.runs.stopped}));
  }

  void theMenusIconsAreSeen_data() {
    QTest::addColumn<int>("mode");
    QTest::newRow("light") << int(Theme::Mode::light);
    QTest::newRow("dark") << int(Theme::Mode::dark);
  }

  void theMenusIconsAreSeen() {
    QFETCH(int, mode);
    Theme::instance().setMode(static_cast<Theme::Mode>(mode));
    const auto back = qScopeGuard([] { Theme::instance().setMode(Theme::Mode::dark); });
    tick(store_.runs.whole);
    tick(store_.runs.failed);
    inMenuOf(store_.runs.failed, [](QMenu* menu) {
      for (const QAction* one : menu->actions()) {
        if (one->icon().isNull() || !one->isEnabled()) continue;
        const QImage drawn = one->icon().pixmap(16, 16).toImage();
        double best = 1;
        for (int y = 0; y < drawn.height(); ++y)
          for (int x = 0; x < drawn.width(); ++x)
            if (drawn.pixelColor(x, y).alpha() > 200)
              best = std::max(best, contrast(drawn.pixelColor(x, y), colors().surface));
        QVERIFY2(best >= 3, qPrintable(one->text()));
      }
    });
  }

  // As wide as the page is in a window of 1100.
  void theTrashAndBackLeavesTheColumns() {
    page_->resize(1040, 620);
    QTRY_VERIFY(page_->isReady());
    QCoreApplication::processEvents();
    const QStringList before = columns();
    auto* where = page_->findChild<Segment*>(QStringLiteral("where"));
    for (const int at : {2, 0}) {
      where->button(at)->click();
      QTRY_VERIFY(page_->isReady());
      QTest::qWait(50);
    }
    QCOMPARE(columns(), before);
    int needed = 0;
    for (int column = 0; column < RunsModel::ColumnCount; ++column)
      if (!table()->isColumnHidden(column)) needed += table()->columnWidth(column);
    QCOMPARE(needed, table()->viewport()->width());
  }

  void noTextIsCutWhileThereIsRoom_data() {
    QTest::addColumn<int>("width");
    QTest::newRow("narrow") << 1000;
    QTest::newRow("wide") << 1500;
  }

  void noTextIsCutWhileThereIsRoom() {
    QFETCH(int, width);
    page_->resize(width, 640);
    QCoreApplication::processEvents();
    const QStyleOptionViewItem option;
    for (int column = 0; column < RunsModel::ColumnCount; ++column) {
      if (table()->isColumnHidden(column) || column == RunsModel::Name) continue;
      for (int row = 0; row < table()->model()->rowCount(); ++row) {
        const QModelIndex index = table()->model()->index(row, column);
        const int needed = table()->itemDelegate()->sizeHint(option, index).width();
        QVERIFY2(needed <= table()->columnWidth(column), qPrintable(index.data().toString()));
      }
    }
    QCOMPARE(cutHeaders(), QString());
  }

  // Its column was hidden when widths were measured, as they are before a window has its size.
  void noHeaderIsCutInAWindowThatWasNarrow() {
    page_->resize(700, 640);
    page_->activated();
    QTRY_VERIFY(page_->isReady());
    QVERIFY(table()->isColumnHidden(RunsModel::Duration));
    page_->resize(2000, 640);
    QTRY_VERIFY(!table()->isColumnHidden(RunsModel::Duration));
    QCOMPARE(cutHeaders(), QString());
  }

 private:
  void open() {
    page_ = std::make_unique<RunsPage>(*session_);
    page_->resize(2000, 900);
    page_->show();
    page_->activated();
    QTRY_VERIFY(table()->model()->rowCount() == 5 && page_->isReady());
  }

  QTableView* table() const { return page_->findChild<QTableView*>(QStringLiteral("runs")); }
  const RunsModel* model() const { return &static_cast<const RunLines*>(table()->model())->runs(); }
  QAction* action(const char* name) const { return page_->findChild<QAction*>(name); }

  QSet<qint64> chosen() const {
    const QList<qint64> runs = page_->selectedRuns();
    return {runs.begin(), runs.end()};
  }

  qint64 rowAt(int row) const {
    return table()->model()->index(row, 0).data(RunsModel::RunRole).toLongLong();
  }

  QPoint cellOf(qint64 run, int column) const {
    for (int row = 0; row < table()->model()->rowCount(); ++row)
      if (rowAt(row) == run)
        return table()->visualRect(table()->model()->index(row, column)).center();
    return {};
  }
  /// The columns that are shown.
  QStringList columns() const {
    QStringList shown;
    for (int column = 0; column < RunsModel::ColumnCount; ++column)
      if (!table()->isColumnHidden(column)) shown << model()->keyOf(column);
    return shown;
  }

  QString cutHeaders() const {
    QStringList cut;
    const QHeaderView* header = table()->horizontalHeader();
    for (int column = RunsModel::Check + 1; column < RunsModel::ColumnCount; ++column)
      if (!table()->isColumnHidden(column) &&
          header->sectionSizeHint(column) > header->sectionSize(column))
        cut << model()->keyOf(column);
    return cut.join(' ');
  }

  /// Presses the right button on a row and looks at the menu that opens.
  void inMenuOf(qint64 run, const std::function<void(QMenu*)>& look) {
    const QPoint at = nameOf(run);
    QTest::mouseClick(table()->viewport(), Qt::RightButton, {}, at);
    bool looked = false;
    QTimer::singleShot(0, this, [&] {
      auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      QVERIFY(menu);
      looked = true;
      look(menu);
      menu->close();
    });
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, table()->viewport()->mapToGlobal(at));
    QCoreApplication::sendEvent(table()->viewport(), &event);
    QVERIFY(looked);
  }

  QPoint boxOf(qint64 run) const { return cellOf(run, RunsModel::Check); }
  /// The box alone.
  QImage boxImage(qint64 run) const {
    return table()->viewport()->grab(QRect(boxOf(run) - QPoint(6, 6), QSize(12, 12))).toImage();
  }
  QPoint nameOf(qint64 run) const { return cellOf(run, RunsModel::Name); }
  void tick(qint64 run) { QTest::mouseClick(table()->viewport(), Qt::LeftButton, {}, boxOf(run)); }

  void filter(const QString& text) {
    auto* field = page_->findChild<QLineEdit*>(QStringLiteral("filter"));
    field->setText(text);
    QTRY_VERIFY(page_->isReady());
  }

  QTemporaryDir settings_;
  samples::SampleStore store_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<RunsPage> page_;
};

HEDDLE_WIDGET_TEST(RunChoosingTest)
#include "run_choosing_test.moc"
