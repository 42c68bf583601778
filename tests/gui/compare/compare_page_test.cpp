// The Compare page: the table of differences, and what a person does with the chips.
#include "gui/views/compare/compare_page.h"

#include <QAbstractItemModelTester>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "gui/theme/theme.h"
#include "gui/widgets/empty_state.h"
#include "gui/widgets/run_chooser.h"
#include "storage/writer.h"
#include "tests/support/results.h"
#include "tests/support/sample_runs.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

/// The table as text: a line a row, cells parted by "|", the best value in parentheses.
QString textOf(const DifferenceModel& model) {
  QStringList lines;
  for (int row = 0; row < model.rowCount(); ++row) {
    QStringList cells{model.headerData(row, Qt::Vertical, Qt::DisplayRole).toString()};
    for (int column = 0; column < model.columnCount(); ++column) {
      const QModelIndex index = model.index(row, column);
      const QString text = index.data().toString();
      cells << (index.data(BestRole).toBool() ? QChar('(') + text + QChar(')') : text);
    }
    lines << cells.join(QStringLiteral(" | "));
  }
  return lines.join(QChar('\n'));
}

auto shared(storage::Comparison comparison) {
  return std::make_shared<const storage::Comparison>(std::move(comparison));
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
    model.setComparison(shared({{left, right},
                                {{"optimizer.lr", {words("3e-3"), words("3e-3")}},
                                 {"wrapping.mode", {words("\"none\""), words("\"auto\"")}}},
                                {{"engine", {words("0.4.1"), std::nullopt}}},
                                {{"loss", {3.982, 3.981}},
                                 {"peak_bytes", {61203283968.0, 63243820236.0}},
                                 {"step_seconds", {3.19, 2.48}},
                                 {"tokens_per_second_per_rank", {5134.0, 6599.0}},
                                 {"nodes", {8044.0, 8044.0}},
                                 {"exposed_seconds", {std::nullopt, NAN}}}}),
                        {RunStroke{}, RunStroke{}});
    QCOMPARE(textOf(model),
             QStringLiteral("Recipe |  |  | \n"
                            "wrapping.mode | none | auto | \n"
                            "Environment |  |  | \n"
                            "engine | 0.4.1 | – | \n"
                            "Results |  |  | \n"
                            "loss | 3.982 | (3.981) | −0.00100\n"
                            "tok/s a rank, median | 5,134 tok/s | (6,599 tok/s) | +28.5 %\n"
                            "step, median | 3.19 s | (2.48 s) | −710 ms\n"
                            "exposed, median | – | NaN | \n"
                            "peak memory | (57.0 GiB) | 58.9 GiB | +1.90 GiB"));
    const auto count = [&](int row) {
      return model.headerData(row, Qt::Vertical, DifferenceModel::CountRole).toString();
    };
    QCOMPARE(count(0), QStringLiteral("1 of 2"));
    QCOMPARE(count(4), QStringLiteral("5 of 6"));

    model.setAllKeys(true);
    QVERIFY(
        textOf(model).startsWith(QStringLiteral("Recipe |  |  | \n"
                                                "optimizer.lr | 3e-3 | 3e-3 | \n"
                                                "wrapping.mode | none | auto | \n")));
    QCOMPARE(count(0), QStringLiteral("2"));
    QVERIFY(textOf(model).contains(QStringLiteral("graph nodes | 8,044 | 8,044 | 0")));
    model.setComparison(shared({}), {});
    QCOMPARE(model.columnCount(), 0);
  }

  // Two values that differ are never shown alike, and two that are alike do not differ.
  void whatLooksTheSameIsTheSame() {
    DifferenceModel model;
    const auto words = [](const char* text) { return storage::Value(std::string(text)); };
    model.setComparison(shared({{{}, {}, {}},
                                {{"optimizer.lr", {words("1e-3"), words("0.001"), words("0.0010")}},
                                 {"training.seed", {words("1_000"), words("1000"), words("1000")}}},
                                {},
                                {{"loss", {3.98123, 3.98134, 3.98123}},
                                 {"grad_norm", {0.1 + 0.2, 0.3, 0.3}},
                                 {"plan_seconds", {NAN, NAN, NAN}},
                                 {"peak_bytes", {61203283968.0, 61203283969.0, 61203283968.0}}}}),
                        {RunStroke{}, RunStroke{}, RunStroke{}});
    QCOMPARE(textOf(model), QStringLiteral("Results |  |  | \n"
                                           "loss | (3.9812) | 3.9813 | (3.9812)"));
  }

  // 0 is the tokenizer's size: the run that goes on from the checkpoint has it as a number.
  void oneModelsVocabularyIsNoDifference() {
    QTemporaryDir folder;
    const std::string path = folder.filePath(QStringLiteral("runs.sqlite")).toStdString();
    auto writer = must(storage::Writer::open(path));
    storage::NewRun run;
    run.name = "first";
    run.recipe_values = {{"model.vocab_size", "0"}, {"training.steps", "10"}};
    const storage::RunId first = must(writer->create_run(run).get()).id;
    run.name = "resumed";
    run.lineage = storage::Lineage{storage::Lineage::Kind::resume, first, "first", 10};
    run.recipe_values = {{"model.vocab_size", "4096"}, {"training.steps", "20"}};
    const storage::RunId second = must(writer->create_run(run).get()).id;
    auto reader = must(storage::Reader::open(path));
    const auto answer = must(CompareReader().read(reader, {.runs = {first, second}}));
    std::vector<std::string> differing;
    for (const storage::Compared& key : answer.data->comparison->recipe)
      if (key.differs()) differing.push_back(key.key);
    QCOMPARE(differing, std::vector<std::string>{"training.steps"});
  }

  // How far predictions had been off is known before the launch: it is nothing that the run
  // measured.
  void whatWasDoubtedStandsNextToThePrediction() {
    DifferenceModel model;
    model.setComparison(shared({{{}, {}},
                                {},
                                {},
                                {{"exposed_seconds", {1.0, 2.0}},
                                 {"predicted_step_seconds", {2.0, 3.0}},
                                 {"predicted_uncertain", {std::nullopt, 1.072}},
                                 {"step_seconds", {3.0, 4.0}}}}),
                        {RunStroke{}, RunStroke{}});
    const QStringList rows = textOf(model).split('\n');
    QCOMPARE(rows.size(), 5);
    QVERIFY2(rows[1].startsWith("step, median |"), qPrintable(rows[1]));
    QVERIFY2(rows[2].startsWith("predicted step |"), qPrintable(rows[2]));
    QCOMPARE(rows[3], QString("prediction ± | – | 107.2 % | "));
    QVERIFY(model.headerData(3, Qt::Vertical, Qt::ToolTipRole)
                .toString()
                .contains("Known before the launch"));
  }

  void twoRunsSideBySide() {
    Session session(store_.path());
    ComparePage page(session);
    page.resize(1500, 900);
    page.show();
    page.showRuns({store_.runs.unwrapped, store_.runs.whole});
    QTRY_VERIFY(page.isReady());
    auto* table = page.findChild<DifferenceView*>(QStringLiteral("differences"));
    QCOMPARE(table->model()->columnCount(), 3);
    const auto charts = page.findChildren<LineChart*>();
    QCOMPARE(charts.size(), 3);
    QTRY_COMPARE(charts[0]->curves(), 2);
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

  void oneRunAloneSaysWhatToDo() {
    Session session(store_.path());
    ComparePage page(session);
    page.resize(1500, 900);
    page.show();
    page.showRuns({store_.runs.whole});
    QTRY_VERIFY(page.isReady());
    auto* table = page.findChild<DifferenceView*>();
    QCOMPARE(table->model()->rowCount(), 0);
    QVERIFY(table->accessibleDescription().contains(QStringLiteral("add another above")));
    const QImage said = table->viewport()->grab().toImage();
    page.findChild<Segment*>(QStringLiteral("keys"))->setCurrent(1);
    QVERIFY(table->model()->rowCount() > 0);
    QVERIFY(table->accessibleDescription().isEmpty());
    page.findChild<Segment*>(QStringLiteral("keys"))->setCurrent(0);
    // The words are drawn too.
    const QColor ground = said.pixelColor(2, 2);
    bool drawn = false;
    for (int y = 0; y < said.height(); ++y)
      for (int x = 0; x < said.width(); ++x) drawn = drawn || said.pixelColor(x, y) != ground;
    QVERIFY(drawn);
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
        if (button->accessibleName() == QStringLiteral("Remove shakespeare-none") &&
            button->isVisible())
          return button;
      return static_cast<QToolButton*>(nullptr);
    };
    QTRY_VERIFY(closeButton());
    QTest::mouseClick(closeButton(), Qt::LeftButton);
    QCOMPARE(page.runs(), QList<qint64>{store_.runs.whole});
    QTRY_VERIFY(page.isReady());

    QTest::mouseClick(page.findChild<QPushButton*>(QStringLiteral("addRun")), Qt::LeftButton);
    RunChooser* chooser = nullptr;
    QTRY_VERIFY((chooser = page.findChild<RunChooser*>()));
    auto* list = chooser->findChild<QListView*>();
    QCOMPARE(list->model()->rowCount(), 5);
    auto* field = chooser->findChild<QLineEdit*>();
    QTest::keyClicks(field, QStringLiteral("done none"));
    QCOMPARE(list->model()->rowCount(), 1);
    QTest::keyClick(field, Qt::Key_Return);
    QCOMPARE(page.runs(), (QList<qint64>{store_.runs.whole, store_.runs.unwrapped}));
    field->clear();
    for (int row = 0; row < list->model()->rowCount(); ++row) {
      const QModelIndex index = list->model()->index(row, 0);
      if (index.data().toString().startsWith(QStringLiteral("shakespeare-auto")))
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualRect(index).center());
    }
    QCOMPARE(page.runs(), QList<qint64>{store_.runs.unwrapped});
    chooser->close();
    QTRY_VERIFY(page.isReady());
  }

  // Next to the colour and group choices, only one chip would fit in a line.
  void chipsHaveTheWholeWidthOfANarrowWindow() {
    Session session(store_.path());
    ComparePage page(session);
    page.resize(1036, 800);  // of a window of 1100
    page.show();
    page.showRuns({store_.runs.unwrapped, store_.runs.whole});
    QTRY_VERIFY(page.isReady());
    auto* chips = page.findChild<RunChips*>();
    const auto* add = page.findChild<QPushButton*>(QStringLiteral("addRun"));
    const auto top = [&](const QWidget* each) { return each->mapTo(&page, QPoint()).y(); };
    QTRY_VERIFY(top(add) > top(chips) + chips->height() - 1);
    QTRY_COMPARE(chips->height(), 32);  // one row
    page.resize(2000, 800);
    QTRY_VERIFY(top(add) < top(chips) + chips->height());
    page.showRuns(
        {store_.runs.unwrapped, store_.runs.whole, store_.runs.failed, store_.runs.stopped});
    QTRY_VERIFY(page.isReady());
    page.resize(1300, 800);
    QTRY_VERIFY(top(add) > top(chips) + chips->height() - 1);
    page.showRuns({store_.runs.whole});  // fewer chips need less room
    QTRY_VERIFY(page.isReady());
    QTRY_VERIFY(top(add) < top(chips) + chips->height());
  }

  void whatIsInTheTrashIsNotCompared() {
    samples::SampleStore store;
    Session session(store.path());
    ComparePage page(session);
    page.resize(1500, 900);
    page.show();
    page.showRuns({store.runs.unwrapped, store.runs.whole, store.runs.failed});
    QTRY_VERIFY(page.isReady());
    {
      auto writer = storage::Writer::open(store.path().toStdString());
      QVERIFY((*writer)->trash(store.runs.whole).get().has_value());
      QVERIFY((*writer)->remove(store.runs.failed).get().has_value());
    }
    page.activated();  // as the window does when the store changes
    QTRY_COMPARE(page.runs(), QList<qint64>{store.runs.unwrapped});
    QTRY_VERIFY(page.isReady());
  }

  void manyRunsFit_data() {
    QTest::addColumn<int>("runs");
    QTest::addColumn<int>("width");
    for (const int width : {1036, 1536})
      for (const int runs : {2, 4, 5, 10, 50})
        QTest::addRow("%d runs, %d wide", runs, width) << runs << width;
  }

  // Anything wider or higher than the room scrolls; no run is left out.
  void manyRunsFit() {
    QFETCH(int, runs);
    QFETCH(int, width);
    Session session(many_.path());
    ComparePage page(session);
    page.resize(width, 620);
    page.show();
    page.showRuns(many_.ids.first(runs));
    QTRY_VERIFY(page.isReady());
    QCoreApplication::processEvents();
    auto* scroll = page.findChild<QStackedWidget*>()->findChild<QScrollArea*>();
    QVERIFY2(scroll->widget()->width() <= scroll->viewport()->width(),
             qPrintable(QString::number(scroll->widget()->width())));
    for (const QWidget* child : scroll->widget()->findChildren<QWidget*>())
      if (child->parentWidget() == scroll->widget() && child->isVisible())
        QVERIFY2(child->geometry().right() < scroll->widget()->width(),
                 child->metaObject()->className());
    QCOMPARE(page.findChild<MetricChart*>()->curves(), runs);
    auto* add = page.findChild<QPushButton*>(QStringLiteral("addRun"));
    QVERIFY(add->isVisible());
    // Few runs are columns, many are rows; the names stay in sight either way.
    const bool many = runs > 4;
    auto* columns = page.findChild<DifferenceView*>();
    auto* rows = page.findChild<RunTable*>();
    QCOMPARE(columns->isVisible(), !many);
    QCOMPARE(rows->isVisible(), many);
    QTableView* table = many ? static_cast<QTableView*>(rows) : columns;
    table->horizontalScrollBar()->setValue(table->horizontalScrollBar()->maximum());
    const int last = table->model()->columnCount() - 1;
    QVERIFY(table->columnViewportPosition(last) + table->columnWidth(last) <=
            table->viewport()->width());
    QVERIFY(table->verticalHeader()->isVisible());
    if (many) QCOMPARE(table->model()->rowCount(), runs);
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
  samples::ManyRuns many_{50};
};

HEDDLE_WIDGET_TEST(ComparePageTest)
#include "compare_page_test.moc"
