// Predicted and measured steps on the Compare page: the table adds up, and a row shows its spans.
#include "gui/views/compare/step_differences.h"

#include <QAbstractItemModelTester>
#include <QMenu>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <nlohmann/json.hpp>

#include "gui/theme/theme.h"
#include "gui/views/compare/compare_page.h"
#include "storage/writer.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;
using telemetry::Span;

namespace {

/// Layer 1's gather is hidden behind layer 0, or compute waits for it.
std::vector<Span> spansOf(bool hidden) {
  const int64_t late = hidden ? 0 : 30'000;
  return {{"all_gather", "layers.0", 0, 10'000, 1, 0, 0},
          {"mm", "layers.0.wq", 10'000, 40'000, 0, 0, 2},
          {"all_gather", "layers.1", hidden ? 15'000 : 50'000, 30'000, 1, 0, 1},
          {"mm", "layers.1.wq", 50'000 + late, 40'000, 0, 0, 4}};
}

std::string planOf() {
  plan::Document document;
  document.step_seconds = 0.09;
  document.plan_hash = "abc";
  plan::RankFigures rank;
  rank.step_seconds = 0.09;
  rank.memory[plan::Category::parameters] = 100 << 20;
  rank.memory[plan::Category::other] = 50 << 20;
  document.ranks_shown = {rank};
  document.memory = rank.memory;
  for (const char* name : {"layers.0", "layers.1"}) {
    plan::BucketFigures bucket;
    bucket.name = name;
    bucket.modules = {name};
    document.buckets.push_back(bucket);
  }
  document.timelines = {{0, spansOf(true), {{.time_us = 0, .bytes = rank.memory}}}};
  return plan::to_json(document).dump();
}

/// A run of one rank with one profiled step.
storage::RunId addRun(storage::Writer& writer, const std::string& name, bool predicted) {
  storage::NewRun run;
  run.name = name;
  run.recipe = "[model]\npreset = \"llama3-debug\"\n";
  const storage::RunId id = must(writer.create_run(run)).id;
  std::vector<telemetry::Record> records{
      telemetry::Start{1e9, 0, 1, "planned", {{"plan", "abc"}}, {}}};
  if (predicted) records.emplace_back(telemetry::Plan{1e9, "abc", planOf()});
  telemetry::Spans spans{5, 1e9, spansOf(!predicted), {{0, {}}}};
  spans.memory[0].bytes[plan::Category::parameters] = int64_t{200} << 20;
  records.emplace_back(std::move(spans));
  records.emplace_back(telemetry::Step{
      5,
      1e9,
      {{"loss", 4}, {"step_seconds", predicted ? 0.125 : 0.09}, {"resident_bytes", 200e6}}});
  records.emplace_back(telemetry::End{1e9 + 1, "done", "", {{"peak_bytes", 200e6}}});
  std::string log;
  uint64_t seq = 0;
  for (const auto& record : records) log += must(telemetry::encode(record, seq++));
  must(writer.ingest(id, 0, 0, 0, log));
  return id;
}

QString cell(const QTableView& table, int row, int column) {
  return table.model()->index(row, column).data().toString();
}

/// The page with some runs.
struct Shown {
  Shown(const QString& store, const QList<qint64>& runs) : session(store), page(session) {
    page.resize(1100, 700);
    page.show();
    page.showRuns(runs);
  }
  Session session;
  ComparePage page;
};

}  // namespace

class StepDifferencesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    Theme::install(Theme::Mode::light);
    auto writer = must(storage::Writer::open(path_.toStdString()));
    must(writer->take_lease());
    first_ = addRun(*writer, "first", true);
    second_ = addRun(*writer, "second", false);
    neither_ = addRun(*writer, "third", false);
  }

  void aRowShowsItsSpans() {
    Shown shown(path_, {first_});
    ComparePage& page = shown.page;
    QTRY_VERIFY(page.isReady());
    auto* card = page.findChild<StepDifferences*>();
    QVERIFY(card->isVisibleTo(&page));
    auto* table = page.findChild<QTableView*>(QStringLiteral("stepRows"));
    QAbstractItemModelTester tester(table->model());
    QCOMPARE(cell(*table, 0, StepRows::Left), QStringLiteral("90.0 ms"));
    QCOMPARE(cell(*table, 0, StepRows::Right), QStringLiteral("125 ms"));
    QCOMPARE(cell(*table, 0, StepRows::Difference), QStringLiteral("+35.0 ms"));
    QCOMPARE(cell(*table, 1, StepRows::Name), QStringLiteral("layers.1"));
    QCOMPARE(cell(*table, 1, StepRows::Exposed), QStringLiteral("+30.0 ms"));
    QCOMPARE(
        page.findChild<QLabel*>(QStringLiteral("rightSum"))->text(),
        QStringLiteral("125 ms = compute 80.0 ms + exposed 40.0 ms + bubble 0 s + idle 5.00 ms"));

    // The gather's span and the compute of that bucket, in both rows.
    auto* timelines = page.findChild<TimelineWidget*>();
    QCOMPARE(timelines->rows().size(), size_t(2));
    QCOMPARE(timelines->rows()[1].rank, int64_t{0});  // the plan is queried for their transfers
    QCOMPARE(timelines->rows()[0].counters.size(), size_t(1));
    QCOMPARE(timelines->rows()[1].counters.at(0)->most(), double(int64_t{200} << 20));
    const auto click = [&](int row) {
      const QPoint at = table->visualRect(table->model()->index(row, 0)).center();
      QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, at);
    };
    click(1);
    QCOMPARE(timelines->matches(), int64_t{4});
    page.findChild<Segment*>(QStringLiteral("grouping"))->setCurrent(3);
    QCOMPARE(timelines->matches(), int64_t{0});
    QCOMPARE(cell(*table, 1, StepRows::Name), QStringLiteral("all_gather layers.1 (forward)"));
    click(1);
    QCOMPARE(timelines->matches(), int64_t{2});
    // The step itself is all of it.
    click(0);
    QCOMPARE(timelines->matches(), int64_t{0});
    QVERIFY(timelines->axis().showsAll());
  }

  void aSurpriseLeadsToItsRow() {
    Shown shown(path_, {first_});
    ComparePage& page = shown.page;
    QTRY_VERIFY(page.isReady());
    auto* surprises = page.findChild<QLabel*>(QStringLiteral("surprises"));
    QVERIFY2(surprises->text().contains(QStringLiteral(
                 "all_gather layers.1 (forward): 30.0 ms exposed in the measurement, hidden in the "
                 "prediction")),
             qPrintable(surprises->text()));
    Q_EMIT surprises->linkActivated(QStringLiteral("0"));
    QCOMPARE(page.findChild<Segment*>(QStringLiteral("grouping"))->current(), 3);
    const auto& chosen = page.findChild<StepDifferences*>()->chosen();
    QVERIFY(chosen.has_value());
    QCOMPARE(chosen->row, std::string("all_gather layers.1 (forward)"));
    QCOMPARE(page.findChild<TimelineWidget*>()->matches(), int64_t{2});
  }

  // Measured memory is as planned where it has a use; the rest is other.
  void memoryIsComparedByCategory() {
    Shown shown(path_, {first_});
    ComparePage& page = shown.page;
    QTRY_VERIFY(page.isReady());
    auto* grouping = page.findChild<Segment*>(QStringLiteral("grouping"));
    auto* table = page.findChild<QTableView*>(QStringLiteral("stepRows"));
    grouping->setCurrent(4);
    QCOMPARE(table->model()->columnCount(), 4);
    QCOMPARE(cell(*table, 0, StepRows::Left), QStringLiteral("150 MiB"));
    QCOMPARE(cell(*table, 1, StepRows::Name), QStringLiteral("other"));
    QCOMPARE(cell(*table, 2, StepRows::Difference), QStringLiteral("0 B"));
  }

  void anyTwoSidesCanBePicked() {
    Shown shown(path_, {first_, second_});
    ComparePage& page = shown.page;
    QTRY_VERIFY(page.isReady());
    auto* table = page.findChild<QTableView*>(QStringLiteral("stepRows"));
    // Unasked, what was measured of both.
    QCOMPARE(cell(*table, 0, StepRows::Left), QStringLiteral("125 ms"));
    QCOMPARE(cell(*table, 0, StepRows::Right), QStringLiteral("90.0 ms"));
    auto* left = page.findChild<QComboBox*>(QStringLiteral("leftSide"));
    QCOMPARE(left->count(), 3);
    QTest::keyClick(left, Qt::Key_Home);
    QTRY_COMPARE(cell(*table, 0, StepRows::Left), QStringLiteral("90.0 ms"));
    QCOMPARE(table->model()->headerData(1, Qt::Horizontal, Qt::DisplayRole).toString(),
             QStringLiteral("first, pred."));
    QVERIFY(!page.findChild<Segment*>(QStringLiteral("grouping"))->button(4)->isEnabled());
    // The pick stays while runs go on.
    page.activated();
    QTRY_VERIFY(page.isReady());
    QCOMPARE(left->currentIndex(), 0);
  }

  // A run's prediction comes first everywhere on the page, so that signs agree.
  void differencesHaveOneDirection() {
    Shown shown(path_, {first_});
    ComparePage& page = shown.page;
    QTRY_VERIFY(page.isReady());
    auto* table = page.findChild<QTableView*>(QStringLiteral("stepRows"));
    QCOMPARE(cell(*table, 1, StepRows::Exposed), QStringLiteral("+30.0 ms"));
    // Exposed: more in the measurement, and that is the bad direction. Hidden time is less.
    QStringList bad;
    for (const QLabel* label : page.findChild<StepStatistics*>()->findChildren<QLabel*>())
      if (label->property("tone") == QStringLiteral("bad")) bad << label->text();
    QCOMPARE(bad, QStringList{QStringLiteral("+30.0 ms")});
  }

  // There are more runs than timelines.
  void everyRunsMemoryHasItsUses() {
    const QString path = folder_.filePath(QStringLiteral("six.sqlite"));
    QList<qint64> runs;
    {
      auto writer = must(storage::Writer::open(path.toStdString()));
      must(writer->take_lease());
      for (int i = 0; i < 6; ++i) runs << addRun(*writer, "run-" + std::to_string(i), true);
    }
    Shown shown(path, runs);
    QTRY_VERIFY(shown.page.isReady());
    for (auto* button : shown.page.findChild<MemoryBars*>()->findChildren<QToolButton*>())
      QTest::mouseClick(button, Qt::LeftButton);
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    QVERIFY(menu);
    menu->actions().first()->trigger();
    menu->close();
    auto* dialog = shown.page.findChild<TableDialog*>();
    QVERIFY(dialog);
    const auto* table = dialog->findChild<QTableView*>();
    QCOMPARE(table->model()->rowCount(), 12);
    QStringList last, heads;
    for (int column = 0; column < table->model()->columnCount(); ++column) {
      heads << table->model()->headerData(column, Qt::Horizontal).toString();
      last << cell(*table, 11, column);
    }
    QCOMPARE(last[1], QStringLiteral("measured"));
    QCOMPARE(last[heads.indexOf("peak")], QStringLiteral("191 MiB"));
    QCOMPARE(last[heads.indexOf("parameters")], QStringLiteral("100 MiB"));
    QCOMPARE(last[heads.indexOf("other")], QStringLiteral("90.7 MiB"));
  }

  // Like every number on the page, and like the keys in the table of differences.
  void theBaselineIsTheFirstSideAndTheStatisticsBaseline() {
    Shown shown(path_, {first_, second_, neither_});
    ComparePage& page = shown.page;
    QTRY_VERIFY(page.isReady());
    const auto figures = [&] {
      QStringList texts;
      for (const QLabel* label : page.findChild<StepStatistics*>()->findChildren<QLabel*>())
        texts << label->text();
      return texts;
    };
    QVERIFY(!figures().contains(QStringLiteral("−30.0 ms")));
    auto* numbers = page.findChild<Segment*>(QStringLiteral("numbers"));
    QTest::mouseClick(numbers->button(1), Qt::LeftButton);
    QVERIFY(figures().contains(QStringLiteral("−30.0 ms")));
    QVERIFY(figures().contains(QStringLiteral("from baseline")));
    auto* left = page.findChild<QComboBox*>(QStringLiteral("leftSide"));
    QCOMPARE(left->currentText(), QStringLiteral("first, measured"));
    const auto isWorse = [&] {
      for (const QLabel* label : page.findChild<StepStatistics*>()->findChildren<QLabel*>())
        if (label->property("tone") == QStringLiteral("bad") &&
            label->text() == QStringLiteral("+30.0 ms"))
          return true;
      return false;
    };
    QVERIFY(!isWorse());
    for (auto* chip : page.findChild<RunChips*>()->findChildren<QWidget*>())
      if (chip->accessibleName() == QStringLiteral("third")) {
        QTest::keyClick(chip, Qt::Key_B);
        break;
      }
    QTRY_COMPARE(left->currentText(), QStringLiteral("third, measured"));
    QTRY_VERIFY(isWorse());
  }

  // Live's "Node by node" keeps the compared runs, and shows the run next to them.
  void nodeByNodeKeepsTheComparison() {
    Shown shown(path_, {second_, neither_});
    ComparePage& page = shown.page;
    QTRY_VERIFY(page.isReady());
    page.showNodes(first_);
    QTRY_VERIFY(page.isReady());
    QCOMPARE(page.runs(), (QList<qint64>{second_, neither_, first_}));
    const auto side = [&](const char* name) {
      return page.findChild<QComboBox*>(QLatin1String(name))->currentText();
    };
    QCOMPARE(side("leftSide"), QStringLiteral("first, predicted"));
    QCOMPARE(side("rightSide"), QStringLiteral("first, measured"));
    // A comparison that includes it does not change.
    page.showNodes(first_);
    QTRY_VERIFY(page.isReady());
    QCOMPARE(page.runs().size(), 3);
  }

  // A choice that nobody made is not worth keeping.
  void nodeByNodeAloneShowsTheRun() {
    Session session(path_);
    ComparePage page(session);
    page.resize(1100, 700);
    page.show();
    page.activated();
    QTRY_VERIFY(page.isReady());
    page.showNodes(first_);
    QTRY_VERIFY(page.isReady());
    QCOMPARE(page.runs(), QList<qint64>{first_});
  }

  void oneSideAloneIsNotCompared() {
    Shown shown(path_, {neither_});
    ComparePage& page = shown.page;
    QTRY_VERIFY(page.isReady());
    QVERIFY(!page.findChild<StepDifferences*>()->isVisibleTo(&page));
  }

 private:
  QTemporaryDir folder_;
  QString path_ = folder_.filePath(QStringLiteral("runs.sqlite"));
  storage::RunId first_ = 0, second_ = 0, neither_ = 0;
};

HEDDLE_WIDGET_TEST(StepDifferencesTest)
#include "step_differences_test.moc"
