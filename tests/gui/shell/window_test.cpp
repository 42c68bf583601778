// The window as a person uses it: pages by key, rail and palette, theme, messages.
#include <QComboBox>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>

#include "gui/preferences.h"
#include "gui/settings.h"
#include "gui/theme/theme.h"
#include "gui/timeline/timeline_widget.h"
#include "gui/views/compare/compare_page.h"
#include "gui/views/live/live_tiles.h"
#include "gui/views/runs/runs_model.h"
#include "gui/views/runs/runs_page.h"
#include "gui/window/pages.h"
#include "gui/window/run_status.h"
#include "storage/writer.h"
#include "tests/support/sample_window.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

class WindowTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { opened_.prepare(); }
  void init() { opened_.open(); }
  void cleanup() { opened_.close(); }

  void pagesByKey() {
    for (const PageEntry& entry : pages()) {
      QTest::keyClick(window(), entry.key, Qt::ControlModifier);
      QCOMPARE(window()->currentPage()->name(), QLatin1String(entry.name));
      QVERIFY(window()->currentPage()->isVisible());
    }
  }

  void aPageIsMadeWhenItIsFirstNeeded() {
    const auto made = [this] {
      QSet<QString> names;
      for (const Page* page : window()->findChildren<Page*>()) names.insert(page->name());
      return names;
    };
    QCOMPARE(made(), QSet<QString>({"compose", "runs"}));
    QTest::keyClick(window(), Qt::Key_6, Qt::ControlModifier);
    QCOMPARE(made(), QSet<QString>({"compose", "runs", "targets"}));
    const Page* targets = window()->currentPage();
    QTest::keyClick(window(), Qt::Key_4, Qt::ControlModifier);
    QTest::keyClick(window(), Qt::Key_6, Qt::ControlModifier);
    QCOMPARE(window()->currentPage(), targets);
    Q_EMIT session()->compareRequested({opened_.store.runs.whole, opened_.store.runs.unwrapped});
    QTRY_VERIFY(window()->isReady());
    QCOMPARE(made(), QSet<QString>({"compare", "compose", "runs", "targets"}));
    QCOMPARE(static_cast<const ComparePage*>(window()->currentPage())->runs().size(), 2);
  }

  void paletteFindsActionsOfPagesThatWereNotShown() {
    QTest::keyClick(window(), Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    QTest::keyClicks(QApplication::focusWidget(), QStringLiteral("add host"));
    const auto* list = window()->findChild<CommandPalette*>()->findChild<QListView*>();
    QCOMPARE(list->currentIndex().data().toString(), QStringLiteral("Add host"));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
  }

  void pagesByRail() {
    auto* button = window()->findChild<QAbstractButton*>(QStringLiteral("rail-targets"));
    QVERIFY(button);
    QTest::mouseClick(button, Qt::LeftButton);
    QCOMPARE(window()->currentPage()->name(), QStringLiteral("targets"));
    QVERIFY(button->isChecked());
    QVERIFY(!window()->findChild<QAbstractButton*>(QStringLiteral("rail-runs"))->isChecked());
  }

  void arrivingAtAPageTouchesNothing() {
    Q_EMIT session()->recipeRequested(QStringLiteral("launch"), QStringLiteral("r"),
                                      QStringLiteral("[model]\n"), QString());
    QCOMPARE(window()->currentPage()->name(), QStringLiteral("launch"));
    const QWidget* focused = QApplication::focusWidget();
    QVERIFY(!qobject_cast<const QAbstractButton*>(focused));
    // After a launch: Live, where W and S are the timeline's.
    Q_EMIT session()->runRequested(QStringLiteral("live"), opened_.store.runs.unwrapped);
    QCOMPARE(window()->currentPage()->name(), QStringLiteral("live"));
    QTRY_VERIFY(window()->isReady());
    for (const QLineEdit* field : window()->currentPage()->findChildren<QLineEdit*>())
      QVERIFY(!field->hasFocus());
    QVERIFY(!qobject_cast<QAbstractButton*>(QApplication::focusWidget()));
    auto* timeline = window()->currentPage()->findChild<TimelineWidget*>();
    QTRY_VERIFY(timeline->isVisible());
    QVERIFY(timeline->hasFocus());
  }

  // Resume ends on the page that it began on, where its button goes.
  void anotherRunTakesTheFocusFromTheBar() {
    Q_EMIT session()->runRequested(QStringLiteral("live"), opened_.store.runs.whole);
    QTRY_VERIFY(window()->isReady());
    window()->findChild<QAbstractButton*>(QStringLiteral("search"))->setFocus();
    Q_EMIT session()->runRequested(QStringLiteral("live"), opened_.store.runs.unwrapped);
    QVERIFY(window()->currentPage()->isAncestorOf(QApplication::focusWidget()));
    QVERIFY(!qobject_cast<QAbstractButton*>(QApplication::focusWidget()));
  }

  void movingToTheTrashOffersUndo() {
    QTest::keyClick(window(), Qt::Key_4, Qt::ControlModifier);
    QTRY_VERIFY(window()->isReady());
    auto* runs = static_cast<RunsPage*>(window()->currentPage());
    auto* table = runs->findChild<QTableView*>(QStringLiteral("runs"));
    QTRY_COMPARE(table->model()->rowCount(), 5);
    runs->showRun(opened_.store.runs.failed);
    runs->findChild<QAction*>(QStringLiteral("discardRuns"))->trigger();
    QPushButton* undo = nullptr;
    QTRY_VERIFY((undo = window()->findChild<QPushButton*>(QStringLiteral("toastAction"))));
    QVERIFY(undo->isVisible() && window()->rect().contains(undo->parentWidget()->geometry()));
    QTRY_COMPARE(table->model()->rowCount(), 4);
    undo->click();
    QTRY_COMPARE(table->model()->rowCount(), 5);
  }

  void paletteFindsPagesAndRuns() {
    QTest::keyClick(window(), Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    auto* palette = window()->findChild<CommandPalette*>();
    QVERIFY(palette->isVisible());
    auto* field = palette->findChild<QLineEdit*>();
    QTRY_VERIFY(field->hasFocus());
    QTest::keyClicks(field, QStringLiteral("targ"));
    QTest::keyClick(field, Qt::Key_Return);
    QVERIFY(!palette->isVisible());
    QCOMPARE(window()->currentPage()->name(), QStringLiteral("targets"));

    QSignalSpy requested(session(), &Session::runRequested);
    QTest::mouseClick(window()->findChild<QAbstractButton*>(QStringLiteral("search")),
                      Qt::LeftButton);
    auto* list = palette->findChild<QListView*>();
    const QAbstractItemModel* found = list->model();
    QTRY_VERIFY(!found
                     ->match(found->index(0, 0), Qt::DisplayRole,
                             QStringLiteral("shakespeare-none"), 1, Qt::MatchContains)
                     .isEmpty());  // the runs have come
    QTest::keyClicks(field, QStringLiteral("shakespeare-none"));
    QTest::keyClick(field, Qt::Key_Return);
    QCOMPARE(requested.count(), 1);
    QCOMPARE(requested.first().at(1).toLongLong(), opened_.store.runs.unwrapped);
    QCOMPARE(window()->currentPage()->name(), QStringLiteral("live"));
  }

  void paletteWithoutAMatchSaysSo() {
    QTest::keyClick(window(), Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    auto* palette = window()->findChild<CommandPalette*>();
    auto* field = palette->findChild<QLineEdit*>();
    auto* none = palette->findChild<QLabel*>(QStringLiteral("noMatch"));
    QVERIFY(!none->isVisible());
    field->setText(QStringLiteral("qqqq"));
    QVERIFY(none->isVisible());
    QCOMPARE(none->text(), QStringLiteral("No run, page or command matches “qqqq”"));
    QTest::keyClick(field, Qt::Key_Return);  // does nothing
    QVERIFY(palette->isVisible());
    field->setText(QStringLiteral("comp"));
    QVERIFY(!none->isVisible());
    QTest::keyClick(field, Qt::Key_Escape);
  }

  void paletteClosesByEscape() {
    QTest::keyClick(window(), Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    auto* palette = window()->findChild<CommandPalette*>();
    QTest::keyClick(palette->findChild<QLineEdit*>(), Qt::Key_Escape);
    QVERIFY(!palette->isVisible());
  }

  void fitnessPrefersBeginnings() {
    QCOMPARE(fitness(QStringLiteral("xyz"), QStringLiteral("Compare")), 0);
    QVERIFY(fitness(QStringLiteral("cmp"), QStringLiteral("Compare")) > 0);
    QVERIFY(fitness(QStringLiteral("dark"), QStringLiteral("Dark theme")) >
            fitness(QStringLiteral("dark"), QStringLiteral("d a r k")));
    QVERIFY(fitness({}, QStringLiteral("anything")) > 0);
  }

  void statusBarTellsWhatRuns() {
    auto reader = storage::Reader::open(opened_.store.path().toStdString());
    const auto status = runStatus(*reader);
    QVERIFY(status && *status);
    QCOMPARE((*status)->run.id, opened_.store.runs.running);
    QCOMPARE((*status)->pace.step, int64_t(120));
    QCOMPARE((*status)->pace.steps, int64_t(300));
    QVERIFY(std::abs(*(*status)->pace.remaining() - 180 * 0.612) < 5);
    const auto says = [this](const QString& text) {
      for (const QLabel* label : window()->findChild<StatusBar*>()->findChildren<QLabel*>())
        if (label->text() == text && label->isVisible()) return true;
      return false;
    };
    QVERIFY(says(QStringLiteral("120 / 300")));
    QVERIFY(says(QStringLiteral("running")));
    QTest::mouseClick(window()->findChild<StatusBar*>(), Qt::LeftButton, {}, QPoint(30, 14));
    QCOMPARE(window()->currentPage()->name(), QStringLiteral("live"));
  }

  void compareGoesToItsPage() {
    Q_EMIT session()->compareRequested({opened_.store.runs.whole, opened_.store.runs.unwrapped});
    QCOMPARE(window()->currentPage()->name(), QStringLiteral("compare"));
    QTRY_COMPARE(window()->currentPage()->subtitle(), QStringLiteral("2 runs"));
  }

  void statusBarTellsALostConnection() {
    auto writer = storage::Writer::open(opened_.store.path().toStdString());
    QVERIFY(writer);
    const double heard = unixNow() - 50;
    QVERIFY((*writer)
                ->set_link(opened_.store.runs.running, {.heard = heard,
                                                        .lost = heard + 9,
                                                        .next_try = heard + 3600,
                                                        .reason = "node: no answer for 9 s"})
                .get());
    auto* bar = window()->findChild<StatusBar*>();
    bar->refresh();
    const auto find = [&](const QString& beginning) -> QLabel* {
      for (QLabel* label : bar->findChildren<QLabel*>())
        if (label->isVisible() && label->text().startsWith(beginning)) return label;
      return nullptr;
    };
    QTRY_VERIFY(find(QStringLiteral("lost, no response for 5")));
    QLabel* state = find(QStringLiteral("lost, "));
    QVERIFY(state->text().contains(QStringLiteral("s; reconnecting, next try in ")));
    QCOMPARE(state->property("tone").toString(), QStringLiteral("bad"));
    QCOMPARE(state->toolTip(), QStringLiteral("node: no answer for 9 s"));
    QCOMPARE(find(QStringLiteral("120 / 300"))->property("tone").toString(),
             QStringLiteral("muted"));
    QVERIFY((*writer)->set_link(opened_.store.runs.running, {.heard = unixNow()}).get());
    bar->refresh();
    QTRY_VERIFY(find(QStringLiteral("running")));
    QCOMPARE(find(QStringLiteral("120 / 300"))->property("tone").toString(), QString());
  }

  // The status bar and the page show one number for one run.
  void statusBarAndLiveSayTheSame() {
    Q_EMIT session()->runRequested(QStringLiteral("live"), opened_.store.runs.running);
    QTRY_VERIFY(window()->isReady());
    QStringList words;
    for (const QLabel* label : window()->findChild<StatusBar*>()->findChildren<QLabel*>())
      if (label->isVisible()) words << label->text();
    const auto tile = [this](const char* name) {
      const auto* found = window()->findChild<Tile*>(QLatin1String(name));
      return found->value() + QLatin1Char(' ') + found->unit();
    };
    const QString rate = tile("throughputTile").section(QLatin1Char(' '), 0, 1);
    QVERIFY2(words.contains(rate), qPrintable(rate + " / " + words.join('|')));
    const QString left = tile("timeTile").section(QLatin1Char(' '), 0, 1);
    QVERIFY2(words.contains(left), qPrintable(left + " / " + words.join('|')));
    // And the table of runs.
    window()->showPage(QStringLiteral("runs"));
    auto* runs = window()->findChild<RunsPage*>();
    QTRY_VERIFY(window()->isReady());
    const auto* table = runs->findChild<QTableView*>();
    QStringList rates;
    for (int row = 0; row < table->model()->rowCount(); ++row)
      rates << table->model()->index(row, RunsModel::Rate).data().toString();
    QVERIFY2(rates.contains(rate.section(QLatin1Char(' '), 0, 0)), qPrintable(rates.join('|')));
  }

  void theSearchFieldGivesWayToWords() {
    window()->resize(1100, 700);
    Q_EMIT session()->runRequested(QStringLiteral("live"), opened_.store.runs.stopped);
    QTRY_VERIFY(window()->isReady());
    const auto* search = window()->findChild<QAbstractButton*>(QStringLiteral("search"));
    const auto* words = window()->findChild<TopBar*>()->findChild<ElidedLabel*>();
    QVERIFY(search && words && !words->fullText().isEmpty());
    QTRY_VERIFY(words->width() >= words->sizeHint().width());
    window()->resize(1800, 900);
    QTRY_COMPARE(search->width(), search->maximumWidth());
  }

  // The next key must not reach Kill.
  void afterStopTheKeyboardIsInTheLog() {
    Q_EMIT session()->runRequested(QStringLiteral("live"), opened_.store.runs.running);
    QTRY_VERIFY(window()->isReady());
    QPushButton* stop = nullptr;
    for (QPushButton* button : window()->findChildren<QPushButton*>(QStringLiteral("stop")))
      if (button->isVisible()) stop = button;
    QVERIFY(stop);
    stop->setFocus();
    QTest::keyClick(stop, Qt::Key_Space);
    QCOMPARE(session()->asked(opened_.store.runs.running), QStringLiteral("stopping"));
    QWidget* focus = window()->focusWidget();
    QVERIFY(focus);
    QCOMPARE(focus->accessibleName(), QStringLiteral("Log"));
  }

  void unreadableRecipeIsSaid() {
    window()->openRecipe(QStringLiteral("/no/such/recipe.toml"));
    auto* toast = window()->findChild<QFrame*>(QStringLiteral("toast"));
    QVERIFY(toast);
    QVERIFY(toast->findChildren<QLabel*>().last()->text().contains(
        QStringLiteral("/no/such/recipe.toml: cannot be read")));
  }

  void messagesAreOfASubjectAndGoAndAreKept() {
    const auto shown = [this] {
      QStringList texts;
      for (QFrame* toast : window()->findChildren<QFrame*>(QStringLiteral("toast")))
        if (toast->isVisible()) texts << toast->findChildren<QLabel*>().last()->text();
      return texts;
    };
    using Say = void (Session::*)(const QString&, Tone, const QString&);
    const Say say = &Session::message;
    window()->showPage(QStringLiteral("live"));
    (session()->*say)(QStringLiteral("cannot be stopped"), Tone::bad, QStringLiteral("run 1"));
    (session()->*say)(QStringLiteral("exported"), Tone::good, QStringLiteral("run 2"));
    QCOMPARE(shown(), QStringList({"cannot be stopped", "exported"}));
    // The newer word on a subject is the one that holds; what has passed is not said any more.
    (session()->*say)(QStringLiteral("is stopping"), Tone::bad, QStringLiteral("run 1"));
    QCOMPARE(shown(), QStringList({"exported", "is stopping"}));
    Q_EMIT session()->messageSettled(QStringLiteral("run 2"));
    QCOMPARE(shown(), QStringList({"is stopping"}));
    // An error does not lie over another page; a key closes what is there.
    window()->showPage(QStringLiteral("runs"));
    QVERIFY(shown().isEmpty());
    (session()->*say)(QStringLiteral("no such host"), Tone::bad, {});
    QTest::keyClick(window(), Qt::Key_Escape, Qt::ShiftModifier);
    QVERIFY(shown().isEmpty());
    // All of it can be looked at again.
    auto* button = window()->findChild<QPushButton*>(QStringLiteral("messages"));
    QCOMPARE(button->text(), QStringLiteral("4 messages"));
    QTest::mouseClick(button, Qt::LeftButton);
    auto* list = window()->findChild<MessageList*>();
    QVERIFY(list->isVisible());
    QVERIFY(
        list->findChild<QListWidget*>()->item(0)->text().contains(QStringLiteral("no such host")));
    QTest::keyClick(list, Qt::Key_Escape);
    QVERIFY(!list->isVisible());
  }

  void anUndoStaysBesideWhatIsSaidNext() {
    window()->showPage(QStringLiteral("runs"));
    Q_EMIT session()->offered(QStringLiteral("in the trash"), QStringLiteral("Undo"), [] {});
    Q_EMIT session()->message(QStringLiteral("exported"), Tone::good);
    auto* undo = window()->findChild<QPushButton*>(QStringLiteral("toastAction"));
    QVERIFY(undo && undo->isVisible());
    Q_EMIT session()->offered(QStringLiteral("another is, too"), QStringLiteral("Undo"), [] {});
    QVERIFY(!undo->isVisible());
  }

  void themeSwitchesAndIsKept() {
    KeptPreferences::instance().load();
    for (QAction* action : window()->findChild<Rail*>()->menu()->actions())
      if (action->text() == QStringLiteral("Light theme")) action->trigger();
    QCOMPARE(Theme::instance().scheme(), Scheme::light);
    QCOMPARE(openSettings()->value(QStringLiteral("theme")).toInt(), 2);
    QCOMPARE(window()->grab().toImage().pixelColor(5, 400), colorsOf(Scheme::light).surface);
    Theme::instance().setMode(Theme::Mode::dark);
  }

  void storeOfANewerVersionIsRefusedInWords() {
    QTemporaryDir folder;
    QFile file(folder.filePath(QStringLiteral("no.sqlite")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("not a store at all, just some text that is long enough to be looked at");
    file.close();
    Session session(file.fileName());
    QSignalSpy said(&session, &Session::message);
    session.start();
    QTRY_VERIFY(said.count() > 0);
    QVERIFY(said.first().first().toString().contains(file.fileName()));
  }

 private:
  MainWindow* window() const { return opened_.window.get(); }
  Session* session() const { return opened_.session.get(); }

  SampleWindow opened_;
};

HEDDLE_WIDGET_TEST(WindowTest)
#include "window_test.moc"
