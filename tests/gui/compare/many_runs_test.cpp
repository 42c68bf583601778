// Many runs on the Compare page, as a person uses them: sorted, highlighted, hidden, against a
// baseline, coloured by a key.
#include <QClipboard>
#include <QHeaderView>
#include <QTest>

#include "gui/charts/curve_data.h"
#include "gui/theme/theme.h"
#include "gui/views/compare/compare_page.h"
#include "storage/writer.h"
#include "tests/support/results.h"
#include "tests/support/sample_runs.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

/// The page with so many runs, and its parts by their accessible names.
struct ManyShown {
  ManyShown(const QString& store, const QList<qint64>& runs) : session(store), page(session) {
    page.resize(1500, 900);
    page.show();
    page.showRuns(runs);
  }

  template <typename Widget>
  Widget* named(const QString& name) const {
    for (auto* each : page.findChildren<Widget*>())
      if (each->accessibleName() == name) return each;
    return nullptr;
  }
  QTableView* table() const { return named<QTableView>(QStringLiteral("Compared runs")); }
  int column(const QString& key) const {
    const QAbstractItemModel* model = table()->model();
    for (int column = 0; column < model->columnCount(); ++column)
      if (model->headerData(column, Qt::Horizontal).toString() == key) return column;
    return -1;
  }
  QString cell(int row, const QString& key) const {
    return table()->model()->index(row, column(key)).data().toString();
  }
  QString name(int row) const { return table()->model()->headerData(row, Qt::Vertical).toString(); }
  void click(int row) const {
    table()->scrollTo(table()->model()->index(row, 0));
    QTest::mouseClick(table()->viewport(), Qt::LeftButton, {},
                      table()->visualRect(table()->model()->index(row, 0)).center());
  }
  void clickHead(const QString& key) const {
    QHeaderView* head = table()->horizontalHeader();
    table()->scrollTo(table()->model()->index(0, column(key)));
    QTest::mouseClick(head->viewport(), Qt::LeftButton, {},
                      {head->sectionViewportPosition(column(key)) + 10, head->height() / 2});
  }
  int curves() const { return page.findChild<MetricChart*>()->curves(); }

  Session session;
  ComparePage page;
};

}  // namespace

class ManyRunsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::light); }

  void aClickOnAKeySorts() {
    ManyShown shown(many_.path(), many_.ids.first(20));
    QTRY_VERIFY(shown.page.isReady());
    const QString first = shown.name(0);
    const QString key = QStringLiteral("loss");
    QVERIFY(shown.column(key) >= 0);
    shown.clickHead(key);
    for (int row = 1; row < 20; ++row)
      QVERIFY(shown.cell(row - 1, key).toDouble() <= shown.cell(row, key).toDouble());
    shown.clickHead(key);
    for (int row = 1; row < 20; ++row)
      QVERIFY(shown.cell(row - 1, key).toDouble() >= shown.cell(row, key).toDouble());
    shown.clickHead(key);
    QCOMPARE(shown.name(0), first);
    // And by key: S sorts by the current column.
    shown.table()->setCurrentIndex(shown.table()->model()->index(0, shown.column(key)));
    QTest::keyClick(shown.table(), Qt::Key_S);
    QVERIFY(shown.cell(0, key).toDouble() <= shown.cell(19, key).toDouble());
  }

  // One value of each result is the best, whichever way is better.
  void theBestValueIsMarked() {
    ManyShown shown(many_.path(), many_.ids.first(20));
    QTRY_VERIFY(shown.page.isReady());
    const QAbstractItemModel* model = shown.table()->model();
    double least = 1e9, marked = -1;
    for (int row = 0; row < 20; ++row) {
      const QModelIndex index = model->index(row, shown.column(QStringLiteral("loss")));
      least = std::min(least, index.data().toString().toDouble());
      if (index.data(BestRole).toBool()) marked = index.data().toString().toDouble();
    }
    QCOMPARE(marked, least);
  }

  void numbersAreDifferencesFromTheBaseline() {
    ManyShown shown(many_.path(), many_.ids.first(12));
    QTRY_VERIFY(shown.page.isReady());
    const QString key = QStringLiteral("loss");
    const auto isBaseline = [&](int row) {
      return shown.table()
          ->model()
          ->headerData(row, Qt::Vertical, RunTableModel::BaselineRole)
          .toBool();
    };
    QVERIFY(isBaseline(0));
    shown.click(3);
    QTest::keyClick(shown.table(), Qt::Key_B);
    QVERIFY(!isBaseline(0) && isBaseline(3));
    const double from = shown.cell(3, key).toDouble(), to = shown.cell(0, key).toDouble();
    auto* numbers = shown.page.findChild<Segment*>(QStringLiteral("numbers"));
    QTest::mouseClick(numbers->button(1), Qt::LeftButton);
    const QString difference = shown.cell(0, key);
    QVERIFY2(difference.startsWith(to < from ? QChar(0x2212) : QChar('+')), qPrintable(difference));
    // Less loss is better: the tint's sign, and the words for who does not see it.
    const QModelIndex index = shown.table()->model()->index(0, shown.column(key));
    QCOMPARE(index.data(HeatRole).toDouble() > 0, to < from);
    QVERIFY(index.data(Qt::AccessibleDescriptionRole)
                .toString()
                .endsWith(to < from ? QStringLiteral("better") : QStringLiteral("worse")));
    // The baseline keeps its value.
    QCOMPARE(shown.cell(3, key).toDouble(), from);
  }

  void selectedRunsAreHighlightedAndHiddenByKey() {
    ManyShown shown(many_.path(), many_.ids.first(8));
    QTRY_VERIFY(shown.page.isReady());
    QTRY_COMPARE(shown.curves(), 8);
    shown.click(2);
    QTest::keyClick(shown.table(), Qt::Key_Down, Qt::ShiftModifier);
    QTest::keyClick(shown.table(), Qt::Key_H);
    QTRY_COMPARE(shown.curves(), 6);
    auto* all = shown.page.findChild<QPushButton*>(QStringLiteral("showAllRuns"));
    QVERIFY(all->isVisible());
    QCOMPARE(all->text(), QStringLiteral("2 runs hidden: show all"));
    QCOMPARE(shown.table()->model()->rowCount(), 8);  // rows stay
    QTest::mouseClick(all, Qt::LeftButton);
    QTRY_COMPARE(shown.curves(), 8);
    QVERIFY(!all->isVisible());
    shown.click(0);
    QTest::keyClick(shown.table(), Qt::Key_Delete);
    QTRY_COMPARE(shown.page.runs().size(), 7);
  }

  void timelinesAreOfAChosenFew() {
    ManyShown shown(many_.path(), many_.ids.first(12));
    QTRY_VERIFY(shown.page.isReady());
    auto* button = shown.page.findChild<QPushButton*>(QStringLiteral("chooseTimelines"));
    QCOMPARE(button->text(), QStringLiteral("4 of 12 runs"));
    shown.click(9);
    QTest::keyClick(shown.table(), Qt::Key_T);
    QTRY_COMPARE(button->text(), QStringLiteral("5 of 12 runs"));
    QTest::keyClick(shown.table(), Qt::Key_T);
    QTRY_COMPARE(button->text(), QStringLiteral("4 of 12 runs"));
  }

  void runsAreColouredByAKey() {
    ManyShown shown(many_.path(), many_.ids.first(20));
    QTRY_VERIFY(shown.page.isReady());
    const auto strokes = [&] {
      QSet<QRgb> found;
      for (int row = 0; row < 20; ++row)
        found.insert(shown.table()
                         ->model()
                         ->headerData(row, Qt::Vertical, RunTableModel::ColorRole)
                         .value<QColor>()
                         .rgb());
      return found.size();
    };
    auto* legend = shown.page.findChild<QWidget*>(QStringLiteral("colorLegend"));
    QVERIFY(!legend->isVisible());
    auto* box = shown.named<QComboBox>(QStringLiteral("Coloured by"));
    box->setFocus();
    QTest::keyClicks(box, QStringLiteral("loss"));
    QCOMPARE(box->currentText(), QStringLiteral("loss"));
    QVERIFY(legend->isVisible());
    QVERIFY(legend->accessibleName().startsWith(QStringLiteral("Colours by loss")));
    QVERIFY(strokes() > 8);  // a scale
  }

  // Wrappings are the groups: how fast a step is depends on nothing else here.
  void groupsHaveMeanAndRange() {
    ManyShown shown(many_.path(), many_.ids.first(18));
    QTRY_VERIFY(shown.page.isReady());
    auto* groups = shown.named<FigureTable>(QStringLiteral("Groups"));
    QVERIFY(!groups->isVisible());
    auto* box = shown.named<QComboBox>(QStringLiteral("Grouped by"));
    box->setFocus();
    QTest::keyClicks(box, QStringLiteral("wrapping.mode"));
    QCOMPARE(box->currentText(), QStringLiteral("wrapping.mode"));
    QVERIFY(groups->isVisible());
    const QAbstractItemModel* model = groups->model();
    QCOMPARE(model->rowCount(), 3);
    QCOMPARE(model->headerData(0, Qt::Vertical).toString(), QStringLiteral("mode auto · 6 runs"));
    groups->setFocus();
    QTest::keySequence(groups, QKeySequence::Copy);
    const QStringList copied = QGuiApplication::clipboard()->text().split(QChar('\n'));
    QCOMPARE(copied.size(), 5);  // heads, three groups, the last line's end
    QVERIFY(copied[0].startsWith(QChar('\t')));
    QVERIFY2(copied[1].startsWith(QStringLiteral("mode auto · 6 runs\t")), qPrintable(copied[1]));
    for (int column = 0; column < model->columnCount(); ++column)
      if (model->headerData(column, Qt::Horizontal).toString() == QStringLiteral("step, median")) {
        QCOMPARE(model->index(0, column).data().toString(),
                 QStringLiteral("612 ms  [612 ms to 612 ms]"));
        QVERIFY(model->index(0, column).data(BestRole).toBool());
        QVERIFY(!model->index(2, column).data(BestRole).toBool());
        // The first run is the baseline: groups are differences from its group.
        const QString value = model->index(2, column).data().toString();
        auto* numbers = shown.page.findChild<Segment*>(QStringLiteral("numbers"));
        QTest::mouseClick(numbers->button(1), Qt::LeftButton);
        QCOMPARE(model->index(0, column).data().toString(),
                 QStringLiteral("612 ms  [612 ms to 612 ms]"));
        const QModelIndex slower = model->index(2, column);
        QVERIFY2(slower.data().toString().startsWith(QChar('+')),
                 qPrintable(slower.data().toString()));
        QVERIFY(slower.data(HeatRole).toDouble() < 0);
        QVERIFY(slower.data(Qt::ToolTipRole).toString().contains(value.section(QChar(' '), 0, 1)));
        QTest::mouseClick(numbers->button(0), Qt::LeftButton);
        QCOMPARE(model->index(2, column).data().toString(), value);
        return;
      }
    QFAIL("the step's time is no column");
  }

  // A second row of charts was cut off below the table.
  void noChartIsCutBelowTheTable() {
    ManyShown shown(many_.path(), many_.ids.first(6));
    QTRY_VERIFY(shown.page.isReady());
    auto* board = shown.page.findChild<ChartBoard*>();
    board->setDefaults({{.metric = "loss"},
                        {.metric = "tokens_per_second"},
                        {.metric = "grad_norm"},
                        {.metric = "step_seconds"},
                        {.metric = "mfu"},
                        {.metric = "learning_rate"},
                        {.metric = "validation_loss"}});
    QCOMPARE(board->charts().size(), size_t(7));
    const auto cut = [&] {
      return std::ranges::any_of(board->charts(), [&](const MetricChart* chart) {
        return chart->geometry().bottom() >= board->height();
      });
    };
    QTRY_VERIFY(!cut());
  }

  // However long all of them take, the window responds after each turn.
  void curvesOf241RunsAreReadInTurns() {
    samples::ManyRuns most{241};
    auto reader = must(storage::Reader::open(most.path().toStdString()));
    std::vector<CurveRun> runs;
    for (const qint64 id : most.ids) runs.push_back({.id = id, .ranks = {0}});
    CurveReading reading({.metric = "loss"}, runs, {}, std::chrono::milliseconds(0));
    qsizetype turns = 0, curves = 0;
    for (; !reading.done(); ++turns)
      curves += static_cast<qsizetype>(must(reading.next(reader)).size());
    QCOMPARE(curves, 241);
    QVERIFY2(turns >= 241, qPrintable(QString::number(turns)));
  }

  // Nothing is dropped.
  void allOf241AreThere() {
    samples::ManyRuns most{241};
    ManyShown shown(most.path(), most.ids);
    QTRY_VERIFY_WITH_TIMEOUT(shown.page.isReady(), 30000);
    QCOMPARE(shown.table()->model()->rowCount(), 241);
    QCOMPARE(shown.page.subtitle(), QStringLiteral("241 runs"));
    QTRY_COMPARE_WITH_TIMEOUT(shown.curves(), 241, 30000);
    shown.click(240);
    QTest::keyClick(shown.table(), Qt::Key_H);
    QTRY_COMPARE_WITH_TIMEOUT(shown.curves(), 240, 30000);
  }

 private:
  samples::ManyRuns many_{20};
};

HEDDLE_WIDGET_TEST(ManyRunsTest)
#include "many_runs_test.moc"
