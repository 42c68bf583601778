// The runs table as a person arranges it: columns, sorts, groups, trees, and views that keep all
// that.
#include <QHeaderView>
#include <QMenu>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>

#include "gui/settings.h"
#include "gui/theme/theme.h"
#include "gui/views/runs/runs_page.h"
#include "gui/widgets/search_field.h"
#include "storage/writer.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

/// A run with its learning rate and last loss.
RunRow arrangedRun(storage::RunId id, const std::string& name, std::optional<double> loss,
                   std::optional<storage::RunId> parent = {}) {
  RunRow row;
  row.summary.id = id;
  row.summary.name = name;
  row.summary.state = storage::RunState::done;
  row.summary.created = 1.7e9 + double(id);
  row.summary.loss = loss;
  if (parent)
    row.summary.lineage = storage::Lineage{storage::Lineage::Kind::resume, *parent, "", 0};
  return row;
}

}  // namespace

class RunArrangingTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    qputenv("XDG_CONFIG_HOME", settings_.path().toUtf8());
    Theme::install(Theme::Mode::dark);
    fill();
  }

  void init() {
    QFile::remove(openSettings()->fileName());
    session_ = std::make_unique<Session>(path());
    open();
  }

  void cleanup() {
    page_.reset();
    session_.reset();
  }

  void aColumnIsFoundAndAdded() {
    auto* panel = openPanel();
    auto* field = panel->findChild<QLineEdit*>();
    QTest::keyClicks(field, QStringLiteral("optimizer.lr"));
    QTest::keyClick(field, Qt::Key_Return);
    QTRY_VERIFY(page_->isReady() && columnCalled("optimizer.lr") >= 0);
    field->clear();
    QTest::keyClicks(field, QStringLiteral("best(validation_loss)"));
    QTest::keyClick(field, Qt::Key_Return);
    QTRY_VERIFY(page_->isReady() && columnCalled("best validation loss") >= 0);
    panel->hide();
    QCOMPARE(cell("cool-1", "optimizer.lr"), QString("1e-4"));
    QCOMPARE(cell("warm-2", "best validation loss"), QString("2.200"));
    QCOMPARE(cell("empty", "best validation loss"), format::kNone);
    // The last value is worse than the best one.
    QCOMPARE(cell("warm-2", "loss"), QString("3.200"));
    QCOMPARE(cell("warm-2", "best loss"), QString("2.200"));
  }

  void longNamesOfColumnsAreElidedInTheirPanel() {
    auto* list = openPanel()->findChild<QListView*>();
    const QAbstractItemModel& names = *list->model();
    int longest = 0;
    for (int row = 0; row < names.rowCount(); ++row) {
      const QString name = names.index(row, 0).data().toString();
      QCOMPARE(names.index(row, 0).data(Qt::ToolTipRole).toString(), name);
      longest = std::max(longest, list->fontMetrics().horizontalAdvance(name));
    }
    QVERIFY(longest + 40 > list->viewport()->width());
    QCOMPARE(list->horizontalScrollBar()->maximum(), 0);
    QVERIFY(list->visualRect(names.index(0, 0)).right() <= list->viewport()->width());
  }

  // The store's values, once read, are those that the table sorts, groups and filters by.
  void theMeanOfTheLastSamplesIsAColumn() {
    auto* panel = openPanel();
    auto* samples = panel->findChild<QSpinBox*>(QStringLiteral("tailSamples"));
    samples->setFocus();
    samples->selectAll();
    QTest::keyClicks(samples, QStringLiteral("2"));
    QTest::keyClick(samples, Qt::Key_Tab);
    auto* field = panel->findChild<SearchField*>();
    field->setFocus();
    QTest::keyClicks(field, QStringLiteral("mean loss of last 2"));
    QTest::keyClick(field, Qt::Key_Return);
    QTRY_VERIFY(page_->isReady() && columnCalled("mean loss of last 2") >= 0);
    panel->hide();
    QCOMPARE(cell("cool-1", "mean loss of last 2"), QString("2.550"));
    QCOMPARE(cell("warm-2", "mean loss of last 2"), QString("2.700"));
    QCOMPARE(cell("empty", "mean loss of last 2"), format::kNone);
    auto* header = table()->horizontalHeader();
    const int column = columnCalled("mean loss of last 2");
    const QPoint at(header->sectionViewportPosition(column) + 20, header->height() / 2);
    QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, at);
    QCOMPARE(shown().first(), QString("cool-2"));
    filterField()->setFocus();
    QTest::keyClicks(filterField(), QStringLiteral("mean(loss, 2) > 2.6"));
    QTRY_COMPARE(shown(), (QStringList{"warm-2", "warm-1", "infinite"}));
    filterField()->clear();
    QTRY_COMPARE(lines()->rowCount(), 6);
  }

  void columnsAreRemembered() {
    page_->keepLayout();
    addColumn(QStringLiteral("optimizer.lr"));
    auto* header = table()->horizontalHeader();
    header->moveSection(header->visualIndex(RunsModel::Loss),
                        header->visualIndex(RunsModel::Target));
    header->resizeSection(RunsModel::Target, 201);
    const int width = header->sectionSize(RunsModel::Target);
    auto* panel = openPanel();
    QTest::keyClicks(panel->findChild<QLineEdit*>(), QStringLiteral("run: memory"));
    QTest::keyClick(panel->findChild<QLineEdit*>(), Qt::Key_Return);
    panel->hide();
    QVERIFY(header->isSectionHidden(RunsModel::Memory));
    clickHeader(RunsModel::Loss);
    QTRY_COMPARE(openSettings()->value(QStringLiteral("runs/sorts")).toStringList(),
                 QStringList{"loss"});

    open();
    QVERIFY(columnCalled("optimizer.lr") < 0);  // not taken on yet
    page_->keepLayout();
    QTRY_VERIFY(page_->isReady() && columnCalled("optimizer.lr") >= 0);
    header = table()->horizontalHeader();
    QVERIFY(header->visualIndex(RunsModel::Loss) < header->visualIndex(RunsModel::Target));
    QCOMPARE(header->sectionSize(RunsModel::Target), width);
    QVERIFY(header->isSectionHidden(RunsModel::Memory));
    QCOMPARE(lines()->sorts(), (QList<RunSort>{{"loss", false}}));
  }

  // "59,9…": a column measured on the runs that a filter showed stayed as narrow without it.
  void noNumberIsCutWhenAFilterIsCleared() {
    const QString path = folder_.filePath(QStringLiteral("wide.sqlite"));
    {
      auto writer = must(storage::Writer::open(path.toStdString()));
      must(writer->take_lease());
      for (const double loss : {1.0, 12'345'678.75}) {
        storage::NewRun run;
        run.name = loss > 1 ? "large" : "small";
        const auto id = must(writer->create_run(run).get()).id;
        const telemetry::Step step{1, 1.76e9, {{"loss", loss}}};
        must(writer->ingest(id, 0, 0, 0, must(telemetry::encode(step, 0))).get());
      }
    }
    page_.reset();
    session_ = std::make_unique<Session>(path);
    page_ = std::make_unique<RunsPage>(*session_);
    page_->resize(900, 600);
    page_->show();
    page_->activated();
    QTRY_VERIFY(table()->model()->rowCount() == 2 && page_->isReady());
    filterField()->setText(QStringLiteral("small"));
    QTRY_COMPARE(shown(), QStringList{"small"});
    page_->activated();  // measures what is shown
    QTRY_VERIFY(page_->isReady());
    const int loss = columnCalled("loss");
    const auto needed = [&] {
      int most = 0;
      for (int row = 0; row < lines()->rowCount(); ++row)
        most = std::max(most,
                        table()->itemDelegate()->sizeHint({}, lines()->index(row, loss)).width());
      return most;
    };
    const int before = needed();
    filterField()->clear();
    QTRY_COMPARE(shown().size(), 2);
    QVERIFY(needed() > before);
    QTRY_VERIFY(table()->horizontalHeader()->sectionSize(loss) >= needed());
  }

  // No run has tags: they have no room that recipes need.
  void columnsThatShowNothingGiveWayFirst() {
    bool tagsGone = false, recipeStays = false;
    for (int width = 2000; width >= 900; width -= 50) {
      page_->resize(width, 900);
      QCoreApplication::processEvents();
      const bool recipe = !table()->isColumnHidden(RunsModel::Recipe);
      const bool tags = !table()->isColumnHidden(RunsModel::Tags);
      QVERIFY2(recipe || !tags, qPrintable(QString::number(width)));
      tagsGone |= !tags;
      recipeStays |= recipe && !tags;
    }
    QVERIFY(tagsGone && recipeStays);
    // A value in a group's head needs no column either.
    page_->resize(2000, 900);
    groupBy("sweep: runs that were launched together");
    QTRY_VERIFY(columnCalled("group") >= 0);
    page_->resize(900, 900);
    QTRY_VERIFY(table()->isColumnHidden(columnCalled("group")));
  }

  void pinnedColumnsStayWhenOthersScroll() {
    for (const char* key : {"optimizer.lr", "optimizer.warmup_steps", "best(validation_loss)",
                            "mean(loss)", "max(loss)", "min(loss)"})
      addColumn(QString::fromLatin1(key));
    page_->resize(900, 700);
    QScrollBar* scroll = page_->findChild<QScrollBar*>(QStringLiteral("columnScroll"));
    QTRY_VERIFY(scroll->isVisible());
    auto* header = table()->horizontalHeader();
    const int lr = columnCalled("optimizer.lr");
    scroll->setValue(scroll->maximum());
    QVERIFY(!header->isSectionHidden(RunsModel::Name));
    QVERIFY(header->isSectionHidden(lr));
    inHeaderMenu(columnCalled("min loss"), QStringLiteral("Pin at the left"));
    scroll->setValue(scroll->maximum());
    QVERIFY(!header->isSectionHidden(columnCalled("min loss")));
    QCOMPARE(header->visualIndex(columnCalled("min loss")), 4);  // box, star, state, name
    page_->resize(2400, 700);
    QTRY_VERIFY(!scroll->isVisible());
    QVERIFY(!header->isSectionHidden(lr));
  }

  void shiftSortsByOneMoreColumn() {
    addColumn(QStringLiteral("optimizer.lr"));
    clickHeader(columnCalled("optimizer.lr"));
    clickHeader(RunsModel::Best, Qt::ShiftModifier);
    QCOMPARE(shown(), (QStringList{"cool-2", "cool-1", "warm-2", "warm-1", "infinite", "empty"}));
    clickHeader(RunsModel::Best, Qt::ShiftModifier);  // the other way round
    QCOMPARE(shown(), (QStringList{"cool-1", "cool-2", "warm-1", "warm-2", "infinite", "empty"}));
    clickHeader(RunsModel::Best);  // that one alone; what has no value is last in either order
    QCOMPARE(lines()->sorts().size(), 1);
    QCOMPARE(shown().mid(0, 4), (QStringList{"warm-2", "cool-2", "warm-1", "cool-1"}));
    clickHeader(RunsModel::Best);
    QCOMPARE(shown().mid(0, 4), (QStringList{"cool-1", "warm-1", "cool-2", "warm-2"}));
  }

  void theKeyboardSortsAndOpensAColumnsMenu() {
    clickCell(0, RunsModel::Name);
    table()->setCurrentIndex(lines()->index(0, RunsModel::Best));
    QTest::keyClick(table(), Qt::Key_O);
    QCOMPARE(lines()->sorts(), (QList<RunSort>{{"best_loss", false}}));
    table()->setCurrentIndex(lines()->index(0, RunsModel::Steps));
    QTest::keyClick(table(), Qt::Key_O, Qt::ShiftModifier);
    QCOMPARE(lines()->sorts(), (QList<RunSort>{{"best_loss", false}, {"steps", true}}));
    QStringList offered;
    QTimer::singleShot(0, this, [&] {
      auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      QVERIFY(menu);
      for (const QAction* each : menu->actions()) offered << each->text();
      menu->close();
    });
    QTest::keyClick(table(), Qt::Key_H);
    QVERIFY(offered.contains("Group by steps") && offered.contains("Pin at the left"));
  }

  void groupsHaveCountMeanAndRange() {
    addColumn(QStringLiteral("optimizer.lr"));
    groupBy(QStringLiteral("optimizer.lr"));
    QCOMPARE(shown(), (QStringList{"optimizer.lr 1e-4", "cool-2", "cool-1", "optimizer.lr 3e-4",
                                   "infinite", "warm-2", "warm-1", "no optimizer.lr", "empty"}));
    const QModelIndex head = lines()->index(0, RunsModel::Name);
    QCOMPARE(head.data(RunLines::RangeRole).toString(), QString("2 runs"));
    const QModelIndex best = head.siblingAtColumn(RunsModel::Best);
    QCOMPARE(best.data().toString(), QString("2.450"));
    QCOMPARE(best.data(RunLines::RangeRole).toString(), QString("2.400 – 2.500"));
    // Infinity does not enter the mean, and is not concealed.
    const QModelIndex warm = lines()->index(3, RunsModel::Loss);
    QCOMPARE(warm.data().toString(), QString("3.150"));
    QVERIFY2(warm.data(Qt::ToolTipRole).toString().contains("1 not finite"),
             qPrintable(warm.data(Qt::ToolTipRole).toString()));
    QCOMPARE(lines()->index(8, RunsModel::Best).data().toString(), format::kNone);
    QVERIFY(page_->subtitle().startsWith("6 runs"));
  }

  void groupsNestByASecondKey() {
    addColumn(QStringLiteral("optimizer.lr"));
    addColumn(QStringLiteral("run: group"));
    groupBy(QStringLiteral("group"));
    thenBy(QStringLiteral("optimizer.lr"));
    const QStringList all{"group cool sweep", "optimizer.lr 1e-4", "cool-2",   "cool-1",
                          "no group",         "optimizer.lr 3e-4", "infinite", "warm-2",
                          "warm-1",           "no optimizer.lr",   "empty"};
    QCOMPARE(shown(), all);
    QVERIFY(
        page_->findChild<QPushButton*>("groupRuns")->text().endsWith("sweep, then optimizer.lr"));
    QCOMPARE(lines()->index(4, RunsModel::Name).data(RunLines::RangeRole).toString(),
             QString("4 runs"));
    const QModelIndex best = lines()->index(5, RunsModel::Best);  // of the inner group
    QCOMPARE(best.data().toString(), QString("2.325"));
    QCOMPARE(best.data(RunLines::RangeRole).toString(), QString("2.200 – 2.450"));
    // Each level folds. Left goes from a run to its inner head, then to the outer head.
    clickCell(3, RunsModel::Name);
    QTest::keyClick(table(), Qt::Key_Left);
    QCOMPARE(table()->currentIndex().row(), 1);
    QTest::keyClick(table(), Qt::Key_Left);
    QCOMPARE(lines()->rowCount(), 9);
    QTest::keyClick(table(), Qt::Key_Left);
    QCOMPARE(table()->currentIndex().row(), 0);
    QTest::keyClick(table(), Qt::Key_Left);
    QCOMPARE(lines()->rowCount(), 8);
    clickCell(0, RunsModel::Check);
    QCOMPARE(page_->selectedRuns().size(), 2);
    QVERIFY(static_cast<RunSelection*>(table()->selectionModel())
                ->isTicked(page_->selectedRuns().first()));
    QTest::keyClick(table(), Qt::Key_Right);  // its inner folds are kept
    QCOMPARE(lines()->rowCount(), 9);
    inMenuOf("groupRuns", QStringLiteral("Fold all"));
    QCOMPARE(shown(), (QStringList{"group cool sweep", "no group"}));
    inMenuOf("groupRuns", QStringLiteral("Unfold all"));
    QCOMPARE(shown(), all);
    // If the current run is folded away, the visible head becomes current.
    table()->setCurrentIndex(lines()->index(8, RunsModel::Name));
    inMenuOf("groupRuns", QStringLiteral("Fold all"));
    QCOMPARE(table()->currentIndex().row(), 1);
    thenBy(QStringLiteral("Nothing"));
    QCOMPARE(shown().size(), 8);
    inHeaderMenu(RunsModel::State, QStringLiteral("Group by group, then state"));
    QCOMPARE(shown().value(1), QString("state done"));
  }

  void aViewKeepsBothKeysOfGroups() {
    RunView view;
    view.groups = QStringList{"group", "mean(loss, 2)"};
    saveRunView(*openSettings(), QStringLiteral("two"), view);
    QCOMPARE(loadRunView(*openSettings(), QStringLiteral("two")).groups, view.groups);
    view.groups.clear();
    saveRunView(*openSettings(), QStringLiteral("two"), view);
    QVERIFY(loadRunView(*openSettings(), QStringLiteral("two")).groups.isEmpty());
    // As an older version saved it, and as a person may have typed it.
    auto settings = openSettings();
    settings->setValue("runs/views/two/group", "mean(loss, 2)");
    QCOMPARE(loadRunView(*settings, QStringLiteral("two")).groups, QStringList{"mean(loss, 2)"});
    settings->setValue("runs/views/two/group", "");
    QVERIFY(loadRunView(*settings, QStringLiteral("two")).groups.isEmpty());
    settings->setValue("runs/views/two/group", QStringList{"a", "a", "", "b", "c"});
    QCOMPARE(loadRunView(*settings, QStringLiteral("two")).groups, (QStringList{"a", "b"}));
  }

  void runsOfASweepAreGroupedByOneEntryOfTheMenu() {
    QVERIFY(columnCalled("group") < 0);
    groupBy(QStringLiteral("sweep: runs that were launched together"));
    QTRY_VERIFY(page_->isReady() && columnCalled("group") >= 0);
    QTRY_COMPARE(table()->model()->rowCount(), 8);  // two sweeps' heads, and 6 runs
    QVERIFY2(shown().contains("group cool sweep"), qPrintable(shown().join('\n')));
  }

  void groupsFoldByMouseAndKeyboard() {
    groupBy(QStringLiteral("state"));
    QCOMPARE(table()->model()->rowCount(), 7);
    clickCell(0, RunsModel::Name);
    QCOMPARE(table()->model()->rowCount(), 1);
    QTest::keyClick(table(), Qt::Key_Right);
    QCOMPARE(table()->model()->rowCount(), 7);
    QTest::keyClick(table(), Qt::Key_Down);
    QTest::keyClick(table(), Qt::Key_Down);
    QTest::keyClick(table(), Qt::Key_Left);  // to the head
    QCOMPARE(table()->currentIndex().row(), 0);
    QTest::keyClick(table(), Qt::Key_Left);
    QCOMPARE(table()->model()->rowCount(), 1);
    QTest::keyClick(table(), Qt::Key_Return);
    QCOMPARE(table()->model()->rowCount(), 7);
    clickCell(0, RunsModel::Check);  // ticks the whole group
    QCOMPARE(page_->selectedRuns().size(), 6);
    clickCell(0, RunsModel::Name);  // folded: still ticked
    QCOMPARE(page_->selectedRuns().size(), 6);
    clickCell(0, RunsModel::Check);
    QCOMPARE(page_->selectedRuns().size(), 0);
    groupBy({});
    QCOMPARE(table()->model()->rowCount(), 6);
  }

  void lineageIsATree() {
    RunsModel model;
    RunLines tree(model);
    model.setRows({arrangedRun(5, "other", 1), arrangedRun(4, "b2", 1, 2),
                   arrangedRun(3, "c", 1, 2), arrangedRun(2, "b", 1, 1), arrangedRun(1, "a", 1)});
    tree.setSorts({{"created", false}});
    tree.setGroups({kByLineage});
    const auto text = [&] {
      QStringList all;
      for (int i = 0; i < tree.rowCount(); ++i)
        all << QString(tree.line(i).depth, ' ') + tree.index(i, RunsModel::Name).data().toString();
      return all;
    };
    QCOMPARE(text(), (QStringList{"a", " b", "  c", "  b2", "other"}));
    QCOMPARE(tree.line(0).below, 3);
    tree.fold(tree.index(1, 0), true);
    QCOMPARE(text(), (QStringList{"a", " b", "other"}));
    tree.setFilter(RunFilter("c or b2"));  // whose parents are not there are roots
    QCOMPARE(text(), (QStringList{"c", "b2"}));
    tree.setFilter(RunFilter());
    QCOMPARE(text(), (QStringList{"a", " b", "other"}));
    tree.foldAll(false);
    QCOMPARE(tree.rowCount(), 5);
    // Runs of a damaged store that go on from each other.
    model.setRows({arrangedRun(2, "x", 1, 1), arrangedRun(1, "y", 1, 2)});
    QCOMPARE(tree.rowCount(), 2);
  }

  void aNamedViewKeepsAll() {
    addColumn(QStringLiteral("optimizer.lr"));
    groupBy(QStringLiteral("optimizer.lr"));
    clickHeader(RunsModel::Best);
    filterField()->setText(QStringLiteral("best(loss) < 3"));
    QTRY_VERIFY(page_->isReady());
    QTimer::singleShot(0, this, [this] {
      auto* dialog = page_->window()->findChild<QDialog*>();
      QVERIFY(dialog);
      QTest::keyClicks(dialog->findChild<QLineEdit*>(), QStringLiteral("by/lr"));
      QTest::keyClick(dialog->findChild<QLineEdit*>(), Qt::Key_Return);
    });
    inMenuOf("runViews", QStringLiteral("Save this view as …"));
    QTRY_COMPARE(namedRunViews(*openSettings()), QStringList{"by/lr"});

    open();
    QCOMPARE(shown().size(), 6);
    inMenuOf("runViews", QStringLiteral("by/lr"));
    QTRY_COMPARE(shown(), (QStringList{"optimizer.lr 3e-4", "warm-2", "warm-1", "optimizer.lr 1e-4",
                                       "cool-2", "cool-1"}));
    QCOMPARE(filterField()->text(), QString("best(loss) < 3"));
    RunView view = loadRunView(*openSettings(), QStringLiteral("by/lr"));
    QCOMPARE(view.groups, QStringList{"recipe.optimizer.lr"});
    removeRunView(*openSettings(), QStringLiteral("by/lr"));
    QVERIFY(namedRunViews(*openSettings()).isEmpty());
  }

  // From another store, or edited by a person.
  void aViewOfWhatIsNotThereDoesNoHarm() {
    auto settings = openSettings();
    settings->setValue("runs/added", QStringList{"no.such.key", "last(nothing)"});
    settings->setValue("runs/sorts", QStringList{"-gone", ""});
    settings->setValue("runs/group", "gone");
    settings->setValue("runs/widths", QVariantMap{{"loss", -5}, {"target", 99999}, {"gone", 5}});
    settings.reset();
    page_->keepLayout();
    QTRY_VERIFY(page_->isReady() && columnCalled("no.such.key") >= 0);
    QCOMPARE(shown().size(), 6);
    QCOMPARE(cell("cool-1", "no.such.key"), format::kNone);
  }

 private:
  QString path() const { return folder_.filePath(QStringLiteral("runs.sqlite")); }

  void fill() {
    auto writer = must(storage::Writer::open(path().toStdString()));
    must(writer->take_lease());
    const auto add = [&](const std::string& name, const std::string& lr,
                         std::vector<double> losses) {
      storage::NewRun run;
      run.name = name;
      run.target = "local";
      run.recipe_name = "small";
      run.created = 1.76e9 + ++made_;
      if (!lr.empty()) run.recipe_values = {{"optimizer.lr", lr}, {"optimizer.warmup_steps", "10"}};
      const auto id = must(writer->create_run(run).get()).id;
      must(writer->set_state(id, storage::RunState::running).get());
      std::string log;
      int64_t step = 0;
      for (const double loss : losses) {
        const telemetry::Step record{
            ++step, run.created + double(step), {{"loss", loss}, {"validation_loss", loss}}};
        log += must(telemetry::encode(record, static_cast<uint64_t>(step - 1)));
      }
      must(writer->ingest(id, 0, 0, 0, log).get());
      if (name.starts_with("cool")) must(writer->set_group(id, "cool sweep").get());
      must(writer->set_state(id, storage::RunState::done).get());
    };
    add("cool-1", "1e-4", {3.0, 2.5, 2.6});
    add("cool-2", "1e-4", {3.0, 2.4, 2.4});
    add("warm-1", "3e-4", {3.3, 2.45, 3.1});
    add("warm-2", "3e-4", {3.3, 2.2, 3.2});
    add("infinite", "3e-4", {INFINITY});
    add("empty", "", {});
  }
  void open() {
    page_ = std::make_unique<RunsPage>(*session_);
    page_->resize(2000, 900);
    page_->show();
    page_->activated();
    QTRY_VERIFY(table()->model()->rowCount() == 6 && page_->isReady());
  }

  RunsTable* table() const { return page_->findChild<RunsTable*>(QStringLiteral("runs")); }
  RunLines* lines() const { return static_cast<RunLines*>(table()->model()); }
  QLineEdit* filterField() const { return page_->findChild<QLineEdit*>(QStringLiteral("filter")); }

  QStringList shown() const {
    QStringList names;
    for (int row = 0; row < lines()->rowCount(); ++row)
      names << lines()->index(row, RunsModel::Name).data().toString();
    return names;
  }

  int columnCalled(const QString& label) const {
    for (int column = 0; column < lines()->columnCount(); ++column)
      if (lines()->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString() == label)
        return column;
    return -1;
  }

  QString cell(const QString& run, const QString& label) const {
    return lines()
        ->index(static_cast<int>(shown().indexOf(run)), columnCalled(label))
        .data()
        .toString();
  }

  ColumnPanel* openPanel() {
    QTest::mouseClick(page_->findChild<QPushButton*>(QStringLiteral("chooseColumns")),
                      Qt::LeftButton);
    auto* panel = page_->findChild<ColumnPanel*>();
    const auto ready = [&] { return panel->isVisible() && panel->isReady(); };
    (void)QTest::qWaitFor(ready);
    return panel;
  }

  void addColumn(const QString& key) {
    ColumnPanel* panel = openPanel();
    auto* field = panel->findChild<QLineEdit*>();
    QTest::keyClicks(field, key);
    QTest::keyClick(field, Qt::Key_Return);
    panel->hide();
    QTRY_VERIFY(page_->isReady());
  }

  void clickHeader(int column, Qt::KeyboardModifiers modifiers = {}) {
    auto* header = table()->horizontalHeader();
    const QPoint at(header->sectionViewportPosition(column) + header->sectionSize(column) / 2, 16);
    QTest::mouseClick(header->viewport(), Qt::LeftButton, modifiers, at);
  }

  void clickCell(int row, int column) {
    QTest::mouseClick(table()->viewport(), Qt::LeftButton, {},
                      table()->visualRect(lines()->index(row, column)).center());
  }

  /// Takes the action of that text in the button's menu.
  void inMenuOf(const char* button, const QString& text) {
    QMenu* menu = page_->findChild<QPushButton*>(QLatin1String(button))->menu();
    Q_EMIT menu->aboutToShow();
    for (QAction* action : menu->actions())
      if (action->text() == text) return action->trigger();
    QFAIL(qPrintable("no action " + text));
  }

  void groupBy(const QString& label) {
    inMenuOf("groupRuns", label.isEmpty() ? QStringLiteral("No groups") : label);
  }

  void thenBy(const QString& label) {
    QMenu* groups = page_->findChild<QPushButton*>(QStringLiteral("groupRuns"))->menu();
    Q_EMIT groups->aboutToShow();
    for (QAction* action : groups->findChild<QMenu*>(QStringLiteral("thenBy"))->actions())
      if (action->text() == label) return action->trigger();
    QFAIL(qPrintable("no groups then by " + label));
  }

  void inHeaderMenu(int column, const QString& text) {
    bool found = false;
    QTimer::singleShot(0, this, [&] {
      auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      QVERIFY(menu);
      for (QAction* action : menu->actions())
        if (action->text() == text) action->trigger(), found = true;
      menu->close();
    });
    auto* header = table()->horizontalHeader();
    Q_EMIT header->customContextMenuRequested(
        QPoint(header->sectionViewportPosition(column) + 5, 10));
    QVERIFY(found);
  }

  QTemporaryDir settings_, folder_;
  int made_ = 0;
  std::unique_ptr<Session> session_;
  std::unique_ptr<RunsPage> page_;
};

HEDDLE_WIDGET_TEST(RunArrangingTest)
#include "run_arranging_test.moc"
