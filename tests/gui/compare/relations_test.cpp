// How recipe fields and results go together: rank correlation, axes, and what is brushed.
#include "gui/views/compare/relations.h"

#include <QMenu>
#include <QTableView>
#include <QTest>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/views/compare/compare_page.h"
#include "storage/queries.h"
#include "tests/support/sample_runs.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

ComparedKey keyOf(const std::string& name, const std::vector<storage::Value>& values) {
  storage::Comparison comparison;
  comparison.runs.resize(values.size());
  storage::Compared row{name, {}};
  for (const storage::Value& value : values) row.values.emplace_back(value);
  comparison.recipe = {row};
  return comparedKeys(comparison, true)->front();
}

}  // namespace

class RelationsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::light); }

  // Known values: ties share ranks (SciPy's spearmanr gives the same).
  void correlationIsOfRanks() {
    QCOMPARE(*spearman({{1, 1}, {2, 8}, {3, 27}, {10, 1000}}).rho, 1.0);
    QCOMPARE(*spearman({{1, 3}, {2, 2}, {3, 1}}).rho, -1.0);
    const Correlation tied = spearman({{1, 2}, {2, 2}, {3, 4}, {4, 3}});
    QVERIFY(std::abs(*tied.rho - 0.7378647873726218) < 1e-12);
    QCOMPARE(tied.pairs, size_t(4));
    QVERIFY(!spearman({{1, 2}, {2, 3}}).rho.has_value());
    QVERIFY(!spearman({{1, 2}, {1, 3}, {1, 4}}).rho.has_value());
  }

  void axesAreLogarithmicOverDecades() {
    const ValueAxis rates = valueAxis(keyOf("optimizer.lr", {"1e-5", "1e-4", "1e-3", "1e-2"}));
    QVERIFY(rates.log && !rates.categories);
    QVERIFY(std::abs((*rates.places[1] - *rates.places[0]) -
                     (*rates.places[3] - *rates.places[2])) < 1e-9);
    QVERIFY(!valueAxis(keyOf("training.steps", {"10", "20", "40"})).log);
    const ValueAxis modes = valueAxis(keyOf("wrapping.mode", {"\"none\"", "\"auto\"", "\"none\""}));
    QVERIFY(modes.categories);
    QCOMPARE(modes.ticks.size(), size_t(2));
    QCOMPARE(*modes.places[0], *modes.places[2]);
  }

  void ticksHaveTheDigitsThatTheyNeed() {
    const auto ticks = [](const std::string& name, const std::vector<storage::Value>& values) {
      QStringList texts;
      for (const ValueAxis::Tick& tick : valueAxis(keyOf(name, values)).ticks) texts << tick.text;
      return texts.join(QLatin1Char(' '));
    };
    QCOMPARE(ticks("optimizer.lr", {"0.001", "0.022"}), "0.005 0.01 0.015 0.02");
    QCOMPARE(ticks("optimizer.lr", {"1e-5", "1e-4", "1e-2"}), "1e-5 1e-4 0.001 0.01");
    QCOMPARE(ticks("optimizer.weight_decay", {"0", "0.1"}), "0 0.02 0.04 0.06 0.08 0.1");
    QCOMPARE(ticks("training.steps", {"1000", "3000"}), "1,000 1,500 2,000 2,500 3,000");
    QCOMPARE(ticks("peak_bytes", {double(1 << 30), double(3 << 29)}), "1.12 GiB 1.3 GiB 1.49 GiB");
    QCOMPARE(ticks("optimizer.lr", {"0.003", "0.003"}), "0.003");
    // Closer than the usual digits tell.
    QCOMPARE(ticks("loss", {2.0001, 2.0021}), "2.0005 2.001 2.0015 2.002");
  }

  void aBrushHighlightsTheRunsInIt() {
    Session session(many_.path());
    ComparePage page(session);
    page.resize(1500, 1000);
    page.show();
    page.showRuns(many_.ids);
    QTRY_VERIFY(page.isReady());
    auto* plot = page.findChild<ParallelPlot*>();
    QVERIFY(plot->isVisible());
    // From the middle of the first axis to its top.
    QTest::mousePress(plot, Qt::LeftButton, {}, {60, plot->height() / 2});
    QTest::mouseMove(plot, {60, 40});
    QTest::mouseRelease(plot, Qt::LeftButton, {}, {60, 32});
    auto* table = page.findChild<RunTable*>();
    const auto rows = [table] { return table->selectionModel()->selectedRows().size(); };
    QVERIFY(rows() > 0 && rows() < many_.ids.size());
    QVERIFY(plot->accessibleDescription().endsWith(QStringLiteral("inside the brushes")));
    QTest::keyClick(plot, Qt::Key_Escape);
    QCOMPARE(rows(), 0);
    // By keys alone: the upper half of the second axis.
    QTest::keyClick(plot, Qt::Key_Right);
    QTest::keyClick(plot, Qt::Key_Up);
    QVERIFY(rows() > 0 && rows() < many_.ids.size());
    QTest::keyClick(plot, Qt::Key_Escape);
  }

  void thePlotsValuesAreATable() {
    Session session(many_.path());
    ComparePage page(session);
    page.resize(1500, 1000);
    page.show();
    page.showRuns(many_.ids);
    QTRY_VERIFY(page.isReady());
    auto* plot = page.findChild<ParallelPlot*>();
    QContextMenuEvent asked(QContextMenuEvent::Keyboard, plot->rect().center(),
                            plot->mapToGlobal(plot->rect().center()));
    QApplication::sendEvent(plot, &asked);
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    QVERIFY(menu);
    menu->actions().first()->trigger();
    menu->close();
    auto* dialog = page.findChild<TableDialog*>();
    QVERIFY(dialog);
    const QAbstractItemModel* values = dialog->findChild<QTableView*>()->model();
    QCOMPARE(values->rowCount(), int(many_.ids.size()));
    QCOMPARE(values->headerData(0, Qt::Horizontal).toString(), QStringLiteral("run"));
    QVERIFY(values->columnCount() > 2);
    const auto loss = [&](int row) {
      for (int column = 0; column < values->columnCount(); ++column)
        if (values->headerData(column, Qt::Horizontal).toString() == QStringLiteral("loss"))
          return values->index(row, column).data().toString();
      return QString();
    };
    auto reader = storage::Reader::open(many_.path().toStdString());
    QCOMPARE(loss(0), format::loss(*(*reader->run(many_.ids.first())).summary.loss));
  }

  void theScatterNamesItsCorrelation() {
    Session session(many_.path());
    ComparePage page(session);
    page.resize(1500, 1000);
    page.show();
    page.showRuns(many_.ids);
    QTRY_VERIFY(page.isReady());
    auto* card = page.findChild<Relations*>();
    QTest::mouseClick(page.findChild<Segment*>(QStringLiteral("relationKind"))->button(1),
                      Qt::LeftButton);
    auto* plot = page.findChild<ScatterPlot*>();
    QVERIFY(plot->isVisible());
    QString note;
    for (auto* each : card->findChildren<ElidedLabel*>())
      if (each->fullText().contains(QStringLiteral("Spearman"))) note = each->fullText();
    QVERIFY2(note.endsWith(QStringLiteral("n = %1").arg(many_.ids.size())), qPrintable(note));
    QTest::keyClick(plot, Qt::Key_Right);
    QVERIFY(!plot->accessibleDescription().isEmpty());
    QTest::keyClick(plot, Qt::Key_Space);
    QCOMPARE(page.findChild<RunTable*>()->selectionModel()->selectedRows().size(), 1);
  }

 private:
  samples::ManyRuns many_{12};
};

HEDDLE_WIDGET_TEST(RelationsTest)
#include "relations_test.moc"
