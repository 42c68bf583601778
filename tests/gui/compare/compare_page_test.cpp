// The Compare page: the table of differences, and what a person does with the chips.
#include "gui/views/compare/compare_page.h"

#include <QAbstractItemModelTester>
#include <QMenu>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "gui/theme/theme.h"
#include "gui/widgets/empty_state.h"
#include "tests/support/sample_runs.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

/// The table as text: a line a row, cells parted by "|", the best value in parentheses.
QString textOf(const DifferenceModel& model) {
  QStringList lines;
  for (int row = 0; row < model.rowCount(); ++row) {
    QStringList cells;
    for (int column = 0; column < model.columnCount(); ++column) {
      const QModelIndex index = model.index(row, column);
      const QString text = index.data().toString();
      cells << (index.data(DifferenceModel::BestRole).toBool() ? QChar('(') + text + QChar(')')
                                                               : text);
    }
    lines << cells.join(QStringLiteral(" | "));
  }
  return lines.join(QChar('\n'));
}

}  // namespace

class ComparePageTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::light); }

  void differencesMarkTheBest() {
    DifferenceModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    storage::RunSummary left, right;
    left.id = 1, left.name = "none";
    right.id = 2, right.name = "auto";
    const auto words = [](const char* text) { return storage::Value(std::string(text)); };
    model.setComparison({{left, right},
                         {{"optimizer.lr", {words("3e-3"), words("3e-3")}},
                          {"wrapping.mode", {words("\"none\""), words("\"auto\"")}}},
                         {{"engine", {words("0.4.1"), std::nullopt}}},
                         {{"loss", {3.982, 3.981}},
                          {"peak_bytes", {61203283968.0, 63243820236.0}},
                          {"step_seconds", {3.19, 2.48}},
                          {"tokens_per_second_per_rank", {5134.0, 6599.0}},
                          {"nodes", {8044.0, 8044.0}},
                          {"exposed_seconds", {std::nullopt, NAN}}}});
    QCOMPARE(textOf(model),
             QStringLiteral("Recipe |  |  | \n"
                            "wrapping.mode | none | auto | \n"
                            "Environment |  |  | \n"
                            "engine | 0.4.1 | – | \n"
                            "Results |  |  | \n"
                            "loss | 3.982 | (3.981) | −0.001\n"
                            "tokens/s a rank | 5,134 tok/s | (6,599 tok/s) | +28.5 %\n"
                            "step | 3.19 s | (2.48 s) | −710 ms\n"
                            "exposed a step | – | – | \n"
                            "peak memory | (57.0 GiB) | 58.9 GiB | +1.90 GiB\n"
                            "graph nodes | 8,044 | 8,044 | 0"));
    QCOMPARE(model.index(0, 0).data(DifferenceModel::CountRole).toString(),
             QStringLiteral("1 of 2"));

    model.setAllKeys(true);
    QVERIFY(
        textOf(model).startsWith(QStringLiteral("Recipe |  |  | \n"
                                                "optimizer.lr | 3e-3 | 3e-3 | \n"
                                                "wrapping.mode | none | auto | \n")));
    QCOMPARE(model.index(0, 0).data(DifferenceModel::CountRole).toString(), QStringLiteral("2"));
    model.setComparison({});
    QCOMPARE(model.columnCount(), 0);
  }

  void twoRunsSideBySide() {
    Session session(store_.path());
    ComparePage page(session);
    page.resize(1500, 900);
    page.show();
    page.showRuns({store_.runs.unwrapped, store_.runs.whole});
    QTRY_VERIFY(page.isReady());
    auto* table = page.findChild<DifferenceView*>(QStringLiteral("differences"));
    QCOMPARE(table->model()->columnCount(), 4);
    const auto charts = page.findChildren<LineChart*>();
    QCOMPARE(charts.size(), 3);
    QCOMPARE(charts[0]->curves(), 2);
    QVERIFY(!charts[0]->series(0).empty());
    const int differing = table->model()->rowCount();
    auto* keys = page.findChild<Segment*>(QStringLiteral("keys"));
    QTest::mouseClick(keys->button(1), Qt::LeftButton);
    QVERIFY(table->model()->rowCount() > differing);
    QTest::mouseClick(keys->button(0), Qt::LeftButton);
    QCOMPARE(table->model()->rowCount(), differing);
    auto* timelines = page.findChild<TimelineWidget*>();
    QCOMPARE(timelines->rows().size(), size_t(2));
    // Without wrapping more communication is exposed: what the page is there to show.
    QVERIFY(timelines->statistics(0).exposed > 3 * timelines->statistics(1).exposed);
    QCOMPARE(page.subtitle(), QStringLiteral("2 runs"));
  }

  void theUsersZoomOutlastsNewRecords() {
    Session session(store_.path());
    ComparePage page(session);
    page.resize(1500, 900);
    page.show();
    page.showRuns({store_.runs.whole, store_.runs.running});
    QTRY_VERIFY(page.isReady());
    const auto readAgain = [&] {
      page.activated();  // as the window does at storeChanged
      QVERIFY(!page.isReady());
      QTRY_VERIFY(page.isReady());
    };
    const auto charts = page.findChildren<LineChart*>();
    QTest::keyClick(charts[0], Qt::Key_W);
    const Range zoomed = charts[0]->xRange();
    QVERIFY(!charts[0]->showsAll());
    readAgain();
    for (const LineChart* chart : charts) {
      QVERIFY(!chart->showsAll());
      QCOMPARE(chart->xRange().low, zoomed.low);
      QCOMPARE(chart->xRange().high, zoomed.high);
    }
    QTest::keyClick(charts[0], Qt::Key_F);
    readAgain();
    QVERIFY(charts[0]->showsAll());

    // Other runs are seen as a whole at first.
    QTest::keyClick(charts[0], Qt::Key_W);
    page.showRuns({store_.runs.whole, store_.runs.unwrapped});
    for (const LineChart* chart : charts) QVERIFY(chart->showsAll());
    QTRY_VERIFY(page.isReady());
  }

  void chipsTakeRunsOutAndIn() {
    Session session(store_.path());
    ComparePage page(session);
    page.resize(1500, 900);
    page.show();
    page.showRuns({store_.runs.unwrapped, store_.runs.whole});
    QTRY_VERIFY(page.isReady());
    const auto closeButton = [&] {
      for (auto* button : page.findChildren<QToolButton*>())
        if (button->accessibleName() == QStringLiteral("Take shakespeare-none out") &&
            button->isVisible())
          return button;
      return static_cast<QToolButton*>(nullptr);
    };
    QTRY_VERIFY(closeButton());
    QTest::mouseClick(closeButton(), Qt::LeftButton);
    QCOMPARE(page.runs(), QList<qint64>{store_.runs.whole});
    QTRY_VERIFY(page.isReady());

    QTest::mouseClick(page.findChild<QPushButton*>(QStringLiteral("addRun")), Qt::LeftButton);
    QMenu* menu = nullptr;
    QTRY_VERIFY((menu = page.findChild<QMenu*>(QStringLiteral("runMenu"))));
    QCOMPARE(menu->actions().size(), 4);
    for (QAction* action : menu->actions())
      if (action->text() == QStringLiteral("shakespeare-none")) action->trigger();
    menu->close();
    QCOMPARE(page.runs(), (QList<qint64>{store_.runs.whole, store_.runs.unwrapped}));
  }

  void unaskedTheNewestAreShown() {
    Session session(store_.path());
    ComparePage page(session);
    page.resize(1500, 900);
    page.show();
    page.activated();
    QTRY_VERIFY(page.isReady() && page.runs().size() == 2);
    QCOMPARE(page.runs().last(), store_.runs.running);
  }

  void emptyStoreSaysWhatBelongsHere() {
    QTemporaryDir folder;
    Session session(folder.filePath(QStringLiteral("empty.sqlite")));
    ComparePage page(session);
    page.show();
    page.activated();
    QTRY_VERIFY(page.isReady());
    QVERIFY(page.findChild<EmptyState*>()->isVisible());
    QSignalSpy requested(&session, &Session::pageRequested);
    QTest::mouseClick(page.findChild<EmptyState*>()->button(), Qt::LeftButton);
    QCOMPARE(requested.first().first().toString(), QStringLiteral("runs"));
  }

 private:
  samples::SampleStore store_;
};

QTEST_MAIN(ComparePageTest)
#include "compare_page_test.moc"
