// A person's marks on runs of the table: tags of many at once, names, stars, the archive,
// their own colours; and rows copied as text.
#include "gui/views/runs/run_marks.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QListWidget>
#include <QTest>

#include "gui/theme/theme.h"
#include "gui/views/runs/runs_page.h"
#include "storage/writer.h"
#include "tests/support/results.h"
#include "tests/support/sample_runs.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

class RunMarksTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void init() {
    store_ = std::make_unique<samples::SampleStore>();
    session_ = std::make_unique<Session>(store_->path());
    page_ = std::make_unique<RunsPage>(*session_);
    page_->resize(2000, 900);
    page_->show();
    page_->activated();
    QTRY_VERIFY(lines()->rowCount() == 5 && page_->isReady());
  }

  void cleanup() {
    page_.reset();
    session_.reset();
    store_.reset();
  }

  void tagsOfManyAreEditedAtOnce() {
    click(store_->runs.whole);
    QTest::keyClick(table(), Qt::Key_T);
    auto* editor = page_->findChild<TagEditor*>();
    QTRY_VERIFY(editor->isVisible());
    auto* field = editor->findChild<QLineEdit*>();
    QTest::keyClicks(field, QStringLiteral("base line"));
    QTest::keyClick(field, Qt::Key_Return);
    editor->hide();
    QTRY_COMPARE(tags(store_->runs.whole), (std::vector<std::string>{"base line"}));
    QTRY_VERIFY(page_->isReady() && text(store_->runs.whole, RunsModel::Tags) == "base line");
    tick({store_->runs.whole, store_->runs.failed});
    page_->activateWindow();
    table()->setFocus();
    QTRY_VERIFY(table()->hasFocus());
    QTest::keyClick(table(), Qt::Key_T);
    QTRY_VERIFY(editor->isVisible());
    auto* list = editor->findChild<QListWidget*>();
    QCOMPARE(list->item(0)->checkState(), Qt::PartiallyChecked);
    QTest::keyClicks(field, QStringLiteral("fp8"));  // new; the other tag stays as it is
    QTest::keyClick(field, Qt::Key_Return);
    editor->hide();
    QTRY_COMPARE(tags(store_->runs.failed), (std::vector<std::string>{"fp8"}));
    QCOMPARE(tags(store_->runs.whole), (std::vector<std::string>{"base line", "fp8"}));
    QTRY_VERIFY(page_->isReady() && text(store_->runs.whole, RunsModel::Tags) == "base line, fp8");
    page_->findChild<QLineEdit*>(QStringLiteral("filter"))
        ->setText(QStringLiteral("tags has \"base line\""));
    QTRY_COMPARE(lines()->rowCount(), 1);
  }

  void aTagOfAnotherProcessStaysWhileTagsAreEdited() {
    const qint64 run = store_->runs.whole;
    click(run);
    QTest::keyClick(table(), Qt::Key_T);
    auto* editor = page_->findChild<TagEditor*>();
    QTRY_VERIFY(editor->isVisible());
    auto writer = must(storage::Writer::open(store_->path().toStdString()));
    must(writer->change_tags(run, {"theirs"}));
    QTest::keyClicks(editor->findChild<QLineEdit*>(), QStringLiteral("mine"));
    QTest::keyClick(editor->findChild<QLineEdit*>(), Qt::Key_Return);
    editor->hide();
    QTRY_COMPARE(tags(run), (std::vector<std::string>{"theirs", "mine"}));
  }

  void aNameIsEditedInPlace() {
    click(store_->runs.stopped);
    QTest::keyClick(table(), Qt::Key_F2);
    auto* editor = table()->viewport()->findChild<QLineEdit*>();
    QVERIFY(editor && editor->text() == QStringLiteral("shakespeare-lr3e-4"));
    page_->activated();  // the store changes meanwhile: what is typed stays
    QTest::qWait(200);
    editor->selectAll();
    QTest::keyClicks(editor, QStringLiteral("too slow"));
    QTest::keyClick(editor, Qt::Key_Return);
    QTRY_COMPARE(text(store_->runs.stopped, RunsModel::Name), QStringLiteral("too slow"));
    // A taken name is refused, and the reason is said.
    QStringList messages;
    connect(session_.get(), &Session::message, page_.get(),
            [&](const QString& said) { messages << said; });
    QTest::keyClick(table(), Qt::Key_F2);
    editor = table()->viewport()->findChild<QLineEdit*>();
    editor->selectAll();
    QTest::keyClicks(editor, QStringLiteral("shakespeare-nan"));
    QTest::keyClick(editor, Qt::Key_Return);
    QTRY_VERIFY(!messages.isEmpty());
    QVERIFY2(messages.first().contains("shakespeare-nan"), qPrintable(messages.first()));
    QTRY_COMPARE(text(store_->runs.stopped, RunsModel::Name), QStringLiteral("too slow"));
  }

  void starsAreToggledByMouseAndKey() {
    const qint64 run = store_->runs.whole;
    QTest::mouseClick(table()->viewport(), Qt::LeftButton, {}, cell(run, RunsModel::Star).center());
    QTRY_VERIFY(summary(run).starred);
    QVERIFY(page_->selectedRuns().isEmpty());  // a star is no choice
    QTRY_COMPARE(lines()
                     ->index(lines()->lineOf(run), RunsModel::Star)
                     .data(Qt::AccessibleTextRole)
                     .toString(),
                 QStringLiteral("starred"));
    click(run);
    QTest::keyClick(table(), Qt::Key_S);
    QTRY_VERIFY(!summary(run).starred);
  }

  void archivedRunsAreOutOfTheWay() {
    click(store_->runs.failed);
    action("archiveRuns")->trigger();
    QTRY_COMPARE(lines()->rowCount(), 4);
    auto* where = page_->findChild<Segment*>(QStringLiteral("where"));
    where->button(1)->click();
    QTRY_VERIFY(page_->isReady() && lines()->lineOf(store_->runs.failed) >= 0);
    QCOMPARE(lines()->rowCount(), 1);
    click(store_->runs.failed);
    QVERIFY(action("archiveRuns")->text().startsWith("Take"));
    action("archiveRuns")->trigger();
    auto* empty = page_->findChild<QStackedWidget*>();
    QTRY_COMPARE(empty->currentIndex(), 2);  // the archive is empty
    auto* back = page_->findChild<QStackedWidget*>()->currentWidget()->findChild<QPushButton*>();
    QTest::mouseClick(back, Qt::LeftButton);
    QTRY_COMPARE(lines()->rowCount(), 5);
    QCOMPARE(where->current(), 0);
  }

  void aRunHasItsOwnColourEverywhere() {
    const QList<qint64> two{store_->runs.whole, store_->runs.failed};
    {
      auto writer = must(storage::Writer::open(store_->path().toStdString()));
      for (const qint64 run : two) must(writer->set_color(run, "#12ab34").get());
    }
    session_->start();
    RunSlots& known = session_->runSlots();
    QTRY_COMPARE(runStroke(known.of(two)[0], Scheme::dark).color, QColor("#12ab34"));
    // Two runs of one colour have different markers.
    QVERIFY(runStroke(known.of(two)[0], Scheme::dark).marker !=
            runStroke(known.of(two)[1], Scheme::dark).marker);
  }

  // Even if no other run is chosen, its row shows the stroke, and the drawer's curve its colour.
  void aColourShowsInTheTableAndInTheDrawer() {
    const qint64 run = store_->runs.whole;
    {
      auto writer = must(storage::Writer::open(store_->path().toStdString()));
      must(writer->set_color(run, "#ff00ff").get());
    }
    session_->start();
    QTRY_VERIFY(session_->runSlots().ownSlotOf(run));
    const auto has = [](QWidget* widget, const QRect& place) {
      const QImage picture = widget->grab(place).toImage();
      for (int y = 0; y < picture.height(); ++y)
        for (int x = 0; x < picture.width(); ++x)
          if (picture.pixelColor(x, y) == QColor("#ff00ff")) return true;
      return false;
    };
    page_->activated();
    QTRY_VERIFY(has(table()->viewport(), cell(run, RunsModel::Name)));
    QVERIFY(!has(table()->viewport(), cell(store_->runs.failed, RunsModel::Name)));
    page_->findChild<RunDrawer*>()->showRun(run);
    auto* loss = page_->findChild<RunDrawer*>()->findChild<LineChart*>();
    QTRY_COMPARE(loss->curves(), 1);
    QTRY_COMPARE(loss->color(0), QColor("#ff00ff"));
  }

  void aMarkerIsChosenWithOrWithoutAColour() {
    const qint64 run = store_->runs.whole;
    session_->start();
    click(run);
    QMenu menu;
    page_->findChild<RunMarks*>()->addTo(menu);
    const auto choose = [&](const char* of, const QString& text) {
      for (QAction* action : menu.findChild<QMenu*>(QLatin1String(of))->actions())
        if (action->text() == text) return action->trigger();
      QFAIL("there is no such choice");
    };
    RunSlots& known = session_->runSlots();
    const auto stroke = [&] { return runStroke(known.of({run}).first(), Scheme::dark); };
    const QColor before = stroke().color;
    choose("runMarkers", "diamond");
    QTRY_COMPARE(summary(run).color, std::string("diamond"));
    QTRY_COMPARE(stroke(), (RunStroke{before, 3}));
    QTRY_VERIFY(page_->isReady());
    page_->activated();
    QTRY_VERIFY(page_->isReady());
    choose("runColors", runStroke(1, Scheme::dark).color.name());
    QTRY_COMPARE(stroke(), (RunStroke{runStroke(1, Scheme::dark).color, 3}));
    auto writer = must(storage::Writer::open(store_->path().toStdString()));
    for (const char* wrong : {"#12ab3", "#12ab34 star", "#12ab34square", "red", "#12ab34 "})
      QVERIFY2(!writer->set_color(run, wrong).get(), wrong);
  }

  void aColourThatIsHardlySeenIsMadeSo() {
    RunSlots known;
    known.setOwn({{1, QColor(Qt::white)}, {2, QColor("#15171c")}});
    const QList<int> found = known.of({1, 2});
    for (const int slot : found)
      for (const Scheme scheme : {Scheme::dark, Scheme::light})
        QVERIFY(contrast(runStroke(slot, scheme).color, colorsOf(scheme).surface) >= 3);
  }

  void rowsAreCopiedAsTheyAreShown() {
    tick({store_->runs.whole, store_->runs.failed});
    table()->setFocus();
    QTest::keySequence(table(), QKeySequence::Copy);
    const QStringList rows = QApplication::clipboard()->text().split('\n', Qt::SkipEmptyParts);
    QCOMPARE(rows.size(), 3);
    QVERIFY2(rows[0].startsWith("state\tname\ttarget\trecipe\tsteps\tloss\tbest loss"),
             qPrintable(rows[0]));
    QVERIFY(rows[1].startsWith("done\tshakespeare-auto\tthis-machine\tdebug-auto\t300\t"));
    action("copyMarkdown")->trigger();
    const QStringList lines = QApplication::clipboard()->text().split('\n', Qt::SkipEmptyParts);
    QVERIFY(lines[0].startsWith("| state | name |"));
    QVERIFY(lines[1].startsWith("| --- | --- |") && lines[1].contains("---:"));
    QCOMPARE(lines.size(), 4);
  }

  // clearml 1480: what had no room on screen was missing from the copy.
  void rowsAreCopiedWithTheColumnsThatHaveNoRoom() {
    tick({store_->runs.whole});
    table()->setFocus();
    action("copyMarkdown")->trigger();
    const QString wide = QApplication::clipboard()->text();
    page_->resize(700, 600);
    QTRY_VERIFY(table()->isColumnHidden(RunsModel::Recipe));
    action("copyMarkdown")->trigger();
    QCOMPARE(QApplication::clipboard()->text(), wide);
    QVERIFY(wide.contains("| recipe |"));
  }

  void rowsAsCsvHaveAllDigits() {
    RunsModel model;
    RunRow row;
    row.summary.id = 7;
    row.summary.name = "lr 1,2 \"x\"";
    row.summary.state = storage::RunState::done;
    row.summary.created = 1.76e9;
    row.summary.steps = 12'345;
    row.summary.loss = 2.123456789;
    model.setRows({row});
    QCOMPARE(textOfRuns(model,
                        {RunsModel::Name, RunsModel::Steps, RunsModel::Loss, RunsModel::Rate,
                         RunsModel::Created},
                        {7}, RunText::csv),
             QString("name,steps,loss,tok/s a rank,created\n"
                     "\"lr 1,2 \"\"x\"\"\",12345,2.123456789,,2025-10-09T08:53:20.000Z\n"));
  }

 private:
  RunsTable* table() const { return page_->findChild<RunsTable*>(QStringLiteral("runs")); }
  RunLines* lines() const { return static_cast<RunLines*>(table()->model()); }
  QAction* action(const char* name) const {
    return page_->findChild<QAction*>(QLatin1String(name));
  }

  QRect cell(qint64 run, int column) const {
    return table()->visualRect(lines()->index(lines()->lineOf(run), column));
  }
  QString text(qint64 run, int column) const {
    return lines()->index(lines()->lineOf(run), column).data().toString();
  }
  void click(qint64 run) {
    table()->setFocus();
    QTest::mouseClick(table()->viewport(), Qt::LeftButton, {}, cell(run, RunsModel::Name).center());
    QTRY_VERIFY(page_->isReady());
  }
  void tick(const QList<qint64>& runs) {
    QTest::keyClick(table(), Qt::Key_Escape);
    for (const qint64 run : runs)
      QTest::mouseClick(table()->viewport(), Qt::LeftButton, {},
                        cell(run, RunsModel::Check).center());
  }
  storage::RunSummary summary(qint64 run) const {
    return must(must(storage::Reader::open(store_->path().toStdString())).run(run)).summary;
  }
  std::vector<std::string> tags(qint64 run) const { return summary(run).tags; }

  std::unique_ptr<samples::SampleStore> store_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<RunsPage> page_;
};

HEDDLE_WIDGET_TEST(RunMarksTest)
#include "run_marks_test.moc"
