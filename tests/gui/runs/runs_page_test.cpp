// The Runs page as a person uses it, over a store with real rows.
#include "gui/views/runs/runs_page.h"

#include <QAbstractItemModelTester>
#include <QFile>
#include <QHeaderView>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include "gui/theme/theme.h"
#include "gui/widgets/empty_state.h"
#include "storage/writer.h"
#include "tests/support/far_run.h"
#include "tests/support/results.h"
#include "tests/support/sample_runs.h"
#include "tests/support/test_class.h"
#include "workbench/place.h"

using namespace heddle;
using namespace heddle::gui;

class RunsPageTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void init() {
    session_ = std::make_unique<Session>(store_.path());
    page_ = std::make_unique<RunsPage>(*session_);
    page_->resize(1500, 900);
    page_->show();
    page_->activated();
    QTRY_VERIFY(table()->model()->rowCount() == 5 && page_->isReady());
  }

  void cleanup() {
    page_.reset();
    session_.reset();
  }

  void modelsAreSound() {
    RunsModel model;
    QAbstractItemModelTester source(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    RunLines proxy(model);
    QAbstractItemModelTester sorted(&proxy, QAbstractItemModelTester::FailureReportingMode::QtTest);
    auto reader = storage::Reader::open(store_.path().toStdString());
    QVERIFY(reader);
    auto rows = readRunRows(*reader);
    QVERIFY(rows);
    const std::vector<RunRow> all = *rows;
    model.setRows({all[1], all[3]});
    model.setRows(all);  // rows come in between
    QCOMPARE(model.rowCount(), 5);
    for (int row = 0; row < 5; ++row)
      QCOMPARE(model.row(row).summary.id, all[size_t(row)].summary.id);
    model.setRows({all[0], all[2], all[4]});  // rows go
    QCOMPARE(model.row(1).summary.id, all[2].summary.id);
    proxy.sort(RunsModel::Loss);
    proxy.setFilter(RunFilter("state:done"));
    model.setRows({});
    QCOMPARE(proxy.rowCount(), 0);
  }

  void aStoreThatCannotBeReadIsNamed() {
    const QTemporaryDir folder;
    const QString path = folder.filePath("runs.sqlite");
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write("a letter, not a store\n") > 0);
    file.close();
    Session session(path);
    RunsPage page(session);
    page.resize(1500, 900);
    page.show();
    page.activated();
    const auto* unreadable = page.findChild<EmptyState*>("unreadableStore");
    QTRY_VERIFY(unreadable->isVisible());
    QVERIFY(file.remove() && QFile::copy(store_.path(), path));
    QTest::mouseClick(unreadable->button(), Qt::LeftButton);
    QTRY_VERIFY(!unreadable->isVisible());
    QCOMPARE(page.findChild<QTableView*>()->model()->rowCount(), 5);
  }

  void aRunThatGoesOnHasWhatIsKnownOfIt() {
    auto reader = storage::Reader::open(store_.path().toStdString());
    const auto rows = readRunRows(*reader);
    const auto running = std::ranges::find_if(
        *rows, [](const RunRow& row) { return row.summary.state == storage::RunState::running; });
    QVERIFY(running != rows->end());
    QVERIFY(running->peakBytes && *running->peakBytes > 600e6);
    QVERIFY(running->exposedShare && *running->exposedShare > 0 && *running->exposedShare < 1);
  }

  void aForkHasTrainedItsOwnStepsOnly() {
    RunRow row;
    row.summary.steps = 500;
    QCOMPARE(row.trained(), int64_t{500});
    row.summary.lineage = storage::Lineage{storage::Lineage::Kind::fork, 1, "debug", 263};
    QCOMPARE(row.trained(), int64_t{237});
    row.summary.steps = 0;  // no step has finished yet
    QCOMPARE(row.trained(), int64_t{0});
  }

  void stateAndTargetStayAtSmallWidths() {
    page_->resize(1000, 700);
    auto* filter = page_->findChild<QLineEdit*>(QStringLiteral("filter"));
    filter->setText(QStringLiteral("state:done"));
    QTRY_COMPARE(table()->model()->rowCount(), 2);
    filter->clear();
    QTRY_COMPARE(table()->model()->rowCount(), 5);
    const QFontMetrics metrics(font::text());
    for (int row = 0; row < 5; ++row) {
      const QString state = table()->model()->index(row, RunsModel::State).data().toString();
      QVERIFY2(table()->columnWidth(RunsModel::State) >= metrics.horizontalAdvance(state) + 40,
               qPrintable(state));
    }
    QVERIFY(!table()->isColumnHidden(RunsModel::Target));
    page_->resize(1500, 900);
  }

  void aRunThatIsNotHeardOfIsGrey() {
    auto reader = storage::Reader::open(store_.path().toStdString());
    QVERIFY(reader);
    auto rows = readRunRows(*reader);
    QVERIFY(rows);
    const auto running = std::ranges::find_if(
        *rows, [](const RunRow& row) { return row.summary.state == storage::RunState::running; });
    QVERIFY(running != rows->end());
    RunRow row = *running;
    const auto shows = [&row](int column, int role) {
      RunsModel model;
      model.setRows({row});
      return model.index(0, column).data(role);
    };
    row.contact = {storage::Link{.heard = unixNow()}, true};
    QCOMPARE(shows(RunsModel::State, RunsModel::ToneRole).toInt(),
             int(lookOf(storage::RunState::running).tone));
    QVERIFY(shows(RunsModel::Loss, RunsModel::ToneRole).isNull());

    row.contact.link =
        storage::Link{.heard = unixNow() - 50, .lost = unixNow() - 40, .next_try = unixNow() + 4};
    QCOMPARE(shows(RunsModel::State, RunsModel::ToneRole).toInt(), int(Tone::bad));
    QVERIFY(shows(RunsModel::State, Qt::ToolTipRole).toString().contains("reconnecting"));
    QCOMPARE(shows(RunsModel::Loss, RunsModel::ToneRole).toInt(), int(Tone::muted));
  }

  void filterTexts_data() {
    QTest::addColumn<QString>("typed");
    QTest::addColumn<QStringList>("names");
    QTest::newRow("word") << "nan" << QStringList{"shakespeare-nan"};
    QTest::newRow("state") << "state:done" << QStringList{"shakespeare-auto", "shakespeare-none"};
    QTest::newRow("two terms") << "state:done none" << QStringList{"shakespeare-none"};
    QTest::newRow("number") << "steps>=300" << QStringList{"shakespeare-auto", "shakespeare-none"};
    QTest::newRow("spaces and 'and'")
        << "steps < 300 and state = stopped" << QStringList{"shakespeare-lr3e-4"};
    QTest::newRow("recipe key") << "lr>1e-3" << QStringList{"shakespeare-nan"};
    QTest::newRow("words of a recipe") << "wrapping.mode=none" << QStringList{"shakespeare-none"};
    QTest::newRow("differs") << "state!=done exposed<0.1"
                             << QStringList{"shakespeare-long", "shakespeare-nan",
                                            "shakespeare-lr3e-4"};
    QTest::newRow("or") << "state:failed or name=shakespeare-none"
                        << QStringList{"shakespeare-none", "shakespeare-nan"};
    QTest::newRow("quotes") << "\"shakespeare-none\"" << QStringList{"shakespeare-none"};
    QTest::newRow("brackets and not") << "not (state is done or state is failed) and steps < 300"
                                      << QStringList{"shakespeare-long", "shakespeare-lr3e-4"};
    QTest::newRow("pattern") << "name ~ *-n*" << QStringList{"shakespeare-none", "shakespeare-nan"};
    QTest::newRow("nothing") << "no-such-run" << QStringList{};
  }

  void filterTexts() {
    QFETCH(QString, typed);
    QFETCH(QStringList, names);
    auto* filter = page_->findChild<QLineEdit*>(QStringLiteral("filter"));
    filter->setFocus();
    QTest::keyClicks(filter, typed);
    QTRY_VERIFY(page_->isReady());
    QTRY_COMPARE(shown(), names);
  }

  void theFieldCompletesNamesSignsAndValues() {
    auto* filter = page_->findChild<QLineEdit*>(QStringLiteral("filter"));
    auto* popup = page_->findChild<QListWidget*>(QStringLiteral("filterPopup"));
    filter->setFocus();
    QTRY_VERIFY(filter->hasFocus());
    QTest::keyClicks(filter, QStringLiteral("sta"));
    QTRY_VERIFY(popup->isVisible());
    QTest::keyClick(filter, Qt::Key_Tab);
    QCOMPARE(filter->text(), QStringLiteral("state "));
    QTest::keyClick(filter, Qt::Key_Down);
    QTest::keyClick(filter, Qt::Key_Down);
    QTest::keyClick(filter, Qt::Key_Return);
    QCOMPARE(filter->text(), QStringLiteral("state is not "));
    QTest::keyClicks(filter, QStringLiteral("do"));
    QTest::keyClick(filter, Qt::Key_Tab);
    QCOMPARE(filter->text(), QStringLiteral("state is not done "));
    QTRY_COMPARE(table()->model()->rowCount(), 3);
    QVERIFY(popup->isVisible());
    QTest::keyClick(filter, Qt::Key_Escape);
    QVERIFY(!popup->isVisible());
    QVERIFY(filter->hasFocus());
    // A key that the table does not show: the values that occur.
    filter->clear();
    QTest::keyClicks(filter, QStringLiteral("wrapping.mode = n"));
    QTRY_VERIFY(popup->isVisible() && popup->item(0)->text() == QStringLiteral("none"));
    QTest::keyClick(filter, Qt::Key_Escape);
  }

  void aFilterThatShowsNothingIsClearedByOneButton() {
    auto* filter = page_->findChild<QLineEdit*>(QStringLiteral("filter"));
    auto* nothing = page_->findChild<EmptyState*>(QStringLiteral("noMatch"));
    const int all = table()->model()->rowCount();
    QVERIFY(all > 0 && !nothing->isVisible());
    filter->setFocus();
    QTest::keyClicks(filter, QStringLiteral("no-such-run"));
    QTRY_VERIFY(nothing->isVisible());
    QTest::mouseClick(nothing->button(), Qt::LeftButton);
    QTRY_COMPARE(table()->model()->rowCount(), all);
    QVERIFY(!nothing->isVisible());
    QVERIFY(filter->text().isEmpty() && filter->hasFocus());
  }

  // No other rows than were asked for, and why.
  void whatIsNotUnderstoodShowsNoOtherRows() {
    auto* filter = page_->findChild<QLineEdit*>(QStringLiteral("filter"));
    auto* note = page_->findChild<ElidedLabel*>(QStringLiteral("filterNote"));
    filter->setText(QStringLiteral("state:done loss<"));
    QTRY_COMPARE(table()->model()->rowCount(), 0);
    QCOMPARE(note->fullText(),
             QStringLiteral("“loss<”: a value is missing after it: a number, as 1k, 3e-4 or nan"));
    filter->setText(QStringLiteral("state:done loss<100"));
    QTRY_COMPARE(table()->model()->rowCount(), 2);
    QCOMPARE(note->fullText(), QString());
  }

  void namesAreSpelledOut() {
    RunRow row;
    row.summary.name = "rtl-\u202egnp.exe\nnext\tlast";
    row.summary.loss = NAN;
    RunsModel model;
    model.setRows({row});
    QCOMPARE(model.index(0, RunsModel::Name).data().toString(),
             QStringLiteral("rtl-\\u202egnp.exe\\nnext\\tlast"));
    QCOMPARE(model.index(0, RunsModel::Loss).data().toString(), QStringLiteral("NaN"));
    QCOMPARE(model.index(0, RunsModel::Loss).data(RunsModel::ToneRole).toInt(), int(Tone::bad));
  }

  void unknownKeyIsSaid() {
    auto* filter = page_->findChild<QLineEdit*>(QStringLiteral("filter"));
    QTest::keyClicks(filter, QStringLiteral("optimizr.lr>1"));
    const auto* note = page_->findChild<ElidedLabel*>(QStringLiteral("filterNote"));
    QTRY_VERIFY2(note->fullText().contains(QStringLiteral("no run has optimizr.lr; did you mean")),
                 qPrintable(note->fullText()));
    QCOMPARE(table()->model()->rowCount(), 0);
  }

  void headerSorts() {
    QCOMPARE(shown().first(), QStringLiteral("shakespeare-long"));  // newest first
    QHeaderView* header = table()->horizontalHeader();
    const QPoint loss(header->sectionViewportPosition(RunsModel::Loss) + 10, 10);
    QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, loss);
    const auto values = [this] {
      QList<double> found;
      for (int row = 0; row < table()->model()->rowCount(); ++row)
        found << table()->model()->index(row, RunsModel::Loss).data(RunsModel::SortRole).toDouble();
      return found;
    };
    QList<double> sorted = values();
    std::sort(sorted.begin(), sorted.end());
    QList<double> reversed(sorted.rbegin(), sorted.rend());
    QVERIFY(values() == sorted || values() == reversed);
    const bool ascending = values() == sorted;
    QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, loss);
    QCOMPARE(values(), ascending ? reversed : sorted);
  }

  void choosingSeveralOffersComparison() {
    QSignalSpy compared(session_.get(), &Session::compareRequested);
    QAction* compare = action(QStringLiteral("compareRuns"));
    QVERIFY(!compare->isEnabled());
    click(rowOf(store_.runs.whole));
    click(rowOf(store_.runs.unwrapped), Qt::ControlModifier);
    QCOMPARE(compare->text(), QStringLiteral("Compare 2"));
    QVERIFY(page_->subtitle().contains(QStringLiteral("2 selected")));
    compare->trigger();
    QCOMPARE(compared.count(), 1);
    const auto runs = compared.first().first().value<QList<qint64>>();
    QCOMPARE(QSet<qint64>(runs.begin(), runs.end()),
             (QSet<qint64>{store_.runs.whole, store_.runs.unwrapped}));
  }

  void drawerShowsTheCurrentRun() {
    click(rowOf(store_.runs.failed));
    QTRY_VERIFY(page_->isReady());
    const auto says = [this](const QString& text) {
      for (const QLabel* label : drawer()->findChildren<QLabel*>()) {
        const auto* elided = qobject_cast<const ElidedLabel*>(label);
        if ((elided ? elided->fullText() : label->text()).contains(text)) return true;
      }
      return false;
    };
    QTRY_VERIFY(says(QStringLiteral("rank 1 was killed by signal 9")));
    click(rowOf(store_.runs.whole));
    QTRY_VERIFY(says(QStringLiteral("peak memory")) && says(QStringLiteral("602 MiB")));
    QTest::mouseClick(drawer()->findChild<QToolButton*>(QStringLiteral("closeDrawer")),
                      Qt::LeftButton);
    QVERIFY(!drawer()->isVisible());
  }

  // As on Live: table and drawer use the same share.
  void muchExposedIsRed() {
    RunRow row;
    const auto tone = [&row](double share) {
      row.exposedShare = share;
      RunsModel model;
      model.setRows({row});
      return model.index(0, RunsModel::Exposed).data(RunsModel::ToneRole);
    };
    QVERIFY(tone(0.049).isNull());
    QCOMPARE(tone(0.065).toInt(), int(Tone::bad));
    const auto drawn = [this] {
      for (const QLabel* value : drawer()->findChildren<QLabel*>(QStringLiteral("exposed_seconds")))
        if (value->isVisible()) return value->palette().color(QPalette::WindowText);
      return QColor();
    };
    click(rowOf(store_.runs.unwrapped));  // a fifth of a step
    QTRY_COMPARE(drawn(), colors().badText);
    click(rowOf(store_.runs.whole));  // three hundredths
    QTRY_COMPARE(drawn(), colors().text);
  }

  void notesAreKept() {
    type(store_.runs.stopped, QStringLiteral("lr too low"));
    // a busy disk takes its time to keep a commit
    QTRY_COMPARE_WITH_TIMEOUT(notesOf(store_.runs.stopped), "lr too low", 30000);
    QTRY_VERIFY(page_->isReady());
    QCOMPARE(drawer()->findChild<QPlainTextEdit*>()->toPlainText(), QStringLiteral("lr too low"));
  }

  void tabLeavesTheNotes() {
    click(rowOf(store_.runs.whole));
    QTRY_VERIFY(page_->isReady());
    auto* notes = drawer()->findChild<QPlainTextEdit*>();
    const QString before = notes->toPlainText();
    notes->setFocus();
    QTest::keyClick(notes, Qt::Key_Tab);
    QCOMPARE(notes->toPlainText(), before);
  }

  void notesTypedJustBeforeLeavingAreKept() {
    type(store_.runs.whole, QStringLiteral("the baseline"));
    type(store_.runs.failed, QStringLiteral("lr too high"));
    cleanup();
    QCOMPARE(notesOf(store_.runs.whole), "the baseline");
    QCOMPARE(notesOf(store_.runs.failed), "lr too high");
  }

  void aRunAskedForBeforeTheRowsCameIsShown() {
    RunsPage page(*session_);
    page.resize(1500, 900);
    page.show();
    page.activated();
    page.showRun(store_.runs.unwrapped);
    QTRY_VERIFY(page.isReady());
    QCOMPARE(page.selectedRuns(), QList<qint64>{store_.runs.unwrapped});
    QCOMPARE(page.findChild<RunDrawer*>()->run(), store_.runs.unwrapped);
  }

  // No request arrives before the connection is back.
  void aStopWaitsForTheConnection() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("runs.sqlite").toStdString();
    auto writer = must(storage::Writer::open(path));
    must(writer->take_lease());  // as the process that follows it
    const qint64 run = must(writer->create_run(far_run()).get()).id;
    must(writer->set_state(run, storage::RunState::running).get());
    const auto now = static_cast<double>(QDateTime::currentSecsSinceEpoch());
    must(writer->set_link(run, {.heard = now - 50, .lost = now - 40}).get());
    Session session(QString::fromStdString(path));
    RunsPage page(session);
    page.resize(1500, 900);
    page.show();
    page.activated();
    page.showRun(run);
    QTRY_COMPARE(page.selectedRuns(), QList<qint64>{run});
    QStringList messages;
    connect(&session, &Session::message, &page, [&](const QString& text) { messages << text; });
    page.findChild<QAction*>(QStringLiteral("stopRuns"))->trigger();
    QTRY_COMPARE(messages.size(), 1);
    QTest::qWait(4000);  // it has been tried, and tried again
    QCOMPARE(messages,
             QStringList("The connection to far is lost: the run is stopped once it is back"));
    QCOMPARE(session.asked(run), QString("stopping"));
  }

  void actionsFitTheState() {
    click(rowOf(store_.runs.running));
    QVERIFY(action(QStringLiteral("stopRuns"))->isEnabled());
    QAction* discard = action(QStringLiteral("discardRuns"));
    QVERIFY(!discard->isEnabled());
    QVERIFY2(discard->text().contains(QStringLiteral("shakespeare-long is running: stop it first")),
             qPrintable(discard->text()));
    click(rowOf(store_.runs.whole));
    QVERIFY(!action(QStringLiteral("stopRuns"))->isEnabled());
    QVERIFY(discard->isEnabled());
    table()->selectAll();
    QAction* weights = action(QStringLiteral("exportWeights"));
    QVERIFY(!weights->isEnabled());
    QVERIFY(weights->text().contains(QStringLiteral("one run at a time")));
    QCOMPARE(action(QStringLiteral("exportRuns"))->text(), QStringLiteral("Export 5 runs"));
  }

  // Before a folder is asked for.
  void aRunWithoutCheckpointsSaysSo() {
    {
      auto writer = storage::Writer::open(store_.path().toStdString());
      const std::string here = workbench::to_json(workbench::place_on(remote::this_machine()));
      QVERIFY((*writer)->set_place(store_.runs.whole, here, "/nowhere").get().has_value());
    }
    click(rowOf(store_.runs.whole));
    QTRY_VERIFY(page_->isReady());
    QAction* weights = action(QStringLiteral("exportWeights"));
    QVERIFY(!weights->isEnabled());
    QVERIFY2(weights->text().contains(QStringLiteral("checkpoint")), qPrintable(weights->text()));
    QVERIFY(weights->text().contains(QStringLiteral("there is no checkpoint in /nowhere")));
  }

  void emptyStoreSaysWhatBelongsHere() {
    QTemporaryDir folder;
    Session session(folder.filePath(QStringLiteral("empty.sqlite")));
    RunsPage page(session);
    page.resize(1000, 700);
    page.show();
    page.activated();
    auto* empty = page.findChild<EmptyState*>(QStringLiteral("noRuns"));
    QTRY_VERIFY(page.isReady() && empty->isVisible());
    QSignalSpy requested(&session, &Session::pageRequested);
    QTest::mouseClick(empty->button(), Qt::LeftButton);
    QCOMPARE(requested.first().first().toString(), QStringLiteral("compose"));
  }

 private:
  QTableView* table() const { return page_->findChild<QTableView*>(QStringLiteral("runs")); }
  RunDrawer* drawer() const { return page_->findChild<RunDrawer*>(); }
  QAction* action(const QString& name) const { return page_->findChild<QAction*>(name); }

  QStringList shown() const {
    QStringList names;
    for (int row = 0; row < table()->model()->rowCount(); ++row)
      names << table()->model()->index(row, RunsModel::Name).data().toString();
    return names;
  }

  int rowOf(qint64 run) const {
    for (int row = 0; row < table()->model()->rowCount(); ++row)
      if (table()->model()->index(row, 0).data(RunsModel::RunRole).toLongLong() == run) return row;
    return -1;
  }

  void click(int row, Qt::KeyboardModifiers modifiers = {}) {
    const QRect cell = table()->visualRect(table()->model()->index(row, RunsModel::Name));
    QTest::mouseClick(table()->viewport(), Qt::LeftButton, modifiers, cell.center());
  }

  /// Into the notes of a run, chosen by a click.
  void type(qint64 run, const QString& text) {
    click(rowOf(run));
    QTRY_VERIFY(page_->isReady());
    auto* notes = drawer()->findChild<QPlainTextEdit*>();
    notes->setFocus();
    QTRY_VERIFY(notes->hasFocus());
    QTest::keyClicks(notes, text);
  }

  std::string notesOf(qint64 run) const {
    auto reader = storage::Reader::open(store_.path().toStdString());
    return reader ? reader->run(run)->summary.notes : reader.error().message;
  }

  samples::SampleStore store_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<RunsPage> page_;
};

HEDDLE_WIDGET_TEST(RunsPageTest)
#include "runs_page_test.moc"
