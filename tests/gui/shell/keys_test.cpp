// The keyboard: the help, the search of each page, and keys that are each of one thing alone.
#include <QTest>
#include <QTextBrowser>

#include "gui/charts/line_chart.h"
#include "gui/timeline/timeline_widget.h"
#include "gui/views/runs/runs_table.h"
#include "gui/window/help_dialog.h"
#include "gui/window/pages.h"
#include "tests/support/by_name.h"
#include "tests/support/sample_window.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

QStringList textsOf(const QListView* list) {
  QStringList texts;
  for (int row = 0; row < list->model()->rowCount(); ++row)
    texts << list->model()->index(row, 0).data().toString();
  return texts;
}

/// Whether the widget, or one around it, does something with the key.
bool takes(QWidget* widget, const QKeySequence& keys) {
  const QKeyCombination key = keys[0];
  QKeyEvent press(QEvent::KeyPress, key.key(), key.keyboardModifiers());
  QCoreApplication::sendEvent(widget, &press);
  return press.isAccepted();
}

}  // namespace

class KeysTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { opened_.prepare(); }
  void init() { opened_.open(); }
  void cleanup() { opened_.close(); }

  void pages_data() {
    QTest::addColumn<QString>("page");
    for (const PageEntry& entry : pages()) QTest::addRow("%s", entry.name) << entry.name;
  }

  void helpShowsThePageAndItsKeysFirst_data() { pages_data(); }
  void helpShowsThePageAndItsKeysFirst() {
    QFETCH(QString, page);
    show(page);
    QTest::keyClick(window(), Qt::Key_F1);
    auto* help = window()->findChild<HelpDialog*>();
    QVERIFY(help && help->isVisible());
    QVERIFY(help->windowTitle().contains(window()->currentPage()->title()));
    QCOMPARE(help->findChild<QLabel*>(QStringLiteral("pageHelp"))->text(),
             window()->currentPage()->help());
    const auto* list = named<QListView>(help, QStringLiteral("Keys"));
    const QStringList texts = textsOf(list);
    for (const KeyTable& table : window()->currentPage()->keys()) {
      QVERIFY(texts.contains(table.title));
      QVERIFY(texts.indexOf(table.title) < texts.indexOf(QStringLiteral("Everywhere")));
      for (const KeyLine& line : table.lines) QVERIFY(texts.contains(line.text));
    }
    QVERIFY(texts.contains(QStringLiteral("Command palette")));
    QTest::keyClick(help, Qt::Key_Escape);
    QTRY_VERIFY(!window()->findChild<HelpDialog*>());
  }

  void helpIsSearchedByTyping() {
    show(QStringLiteral("runs"));
    QTest::keyClick(window(), Qt::Key_Question);
    auto* help = window()->findChild<HelpDialog*>();
    QVERIFY(help);
    auto* field = named<QLineEdit>(help, QStringLiteral("Find a key or what it does"));
    QTRY_VERIFY(field->hasFocus());
    QTest::keyClicks(field, QStringLiteral("ctrl+shift+p"));
    auto* list = named<QListView>(help, QStringLiteral("Keys"));
    QCOMPARE(textsOf(list),
             QStringList({QStringLiteral("Everywhere"), QStringLiteral("Command palette")}));
    QVERIFY(list->model()->index(1, 0).data(Qt::AccessibleTextRole).toString().contains("Ctrl"));
    field->setText(QStringLiteral("trash table"));
    QVERIFY(textsOf(list).contains(QStringLiteral("Move to the trash")));
    const QModelIndex before = list->currentIndex();
    field->setText(QStringLiteral("table"));
    QTest::keyClick(field, Qt::Key_Down);
    QVERIFY(list->currentIndex() != before || list->currentIndex().row() == 2);
    field->setText(QStringLiteral("qqqq"));
    QVERIFY(!list->isVisible());
    QTest::keyClick(field, Qt::Key_Escape);
  }

  void aQuestionMarkInAFieldIsTyped() {
    show(QStringLiteral("runs"));
    QTest::keyClick(window(), Qt::Key_F, Qt::ControlModifier);
    auto* field = qobject_cast<QLineEdit*>(QApplication::focusWidget());
    QVERIFY(field);
    QTest::keyClick(field, '?', Qt::ShiftModifier);
    QCOMPARE(field->text(), QStringLiteral("?"));
    QVERIFY(!window()->findChild<HelpDialog*>());
    field->clear();
  }

  void findGoesToThePagesSearch_data() {
    QTest::addColumn<QString>("page");
    QTest::addColumn<QString>("beginning");
    QTest::addRow("compose") << "compose"
                             << "Search all keys";
    QTest::addRow("runs") << "runs"
                          << "Filter";
    QTest::addRow("live") << "live"
                          << "Find";
    QTest::addRow("targets") << "targets"
                             << "Find a host";
  }
  void findGoesToThePagesSearch() {
    QFETCH(QString, page);
    QFETCH(QString, beginning);
    show(page);
    QTest::keyClick(window(), Qt::Key_F, Qt::ControlModifier);
    QTRY_VERIFY(qobject_cast<QLineEdit*>(QApplication::focusWidget()));
    const QString name = QApplication::focusWidget()->accessibleName();
    QVERIFY2(name.startsWith(beginning), qPrintable(name));
    QVERIFY(window()->currentPage()->isAncestorOf(QApplication::focusWidget()));
  }

  // One key, and the panel that has the keyboard answers.
  void findGoesToTheSearchOfTheFocusedPanel() {
    show(QStringLiteral("live"));
    window()->currentPage()->showRun(opened_.store.runs.whole);
    QTRY_VERIFY(window()->isReady());
    auto* timeline = window()->currentPage()->findChild<TimelineWidget*>();
    QTRY_VERIFY(timeline->isVisible());
    timeline->setFocus();
    QTest::keyClick(timeline, Qt::Key_F, Qt::ControlModifier);
    QTRY_COMPARE(nameOf(QApplication::focusWidget()), QStringLiteral("Find an operator or module"));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
    QVERIFY(timeline->hasFocus());
    auto* log = named<QTextBrowser>(window(), QStringLiteral("Log"));
    QVERIFY(log);
    log->setFocus();
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_F, Qt::ControlModifier);
    QTRY_COMPARE(nameOf(QApplication::focusWidget()), QStringLiteral("Search the log"));
  }

  void findWithoutASearchOpensThePalette() {
    show(QStringLiteral("launch"));
    QTest::keyClick(window(), Qt::Key_F, Qt::ControlModifier);
    auto* palette = window()->findChild<CommandPalette*>();
    QVERIFY(palette->isVisible());
    QTest::keyClick(named<QLineEdit>(palette, QStringLiteral("Search runs, pages, commands")),
                    Qt::Key_Escape);
  }

  void hostsAreFoundByTyping() {
    show(QStringLiteral("targets"));
    QTest::keyClick(window(), Qt::Key_F, Qt::ControlModifier);
    auto* field = qobject_cast<QLineEdit*>(QApplication::focusWidget());
    QVERIFY(field);
    auto* list = named<QListView>(window()->currentPage(), QStringLiteral("Targets"));
    QTRY_VERIFY(list->model()->rowCount() > 0);
    field->setText(QStringLiteral("no such host"));
    QVERIFY(list->isRowHidden(0));
    field->clear();
    QVERIFY(!list->isRowHidden(0));
  }

  // Two actions of one key are both dead: Qt calls that ambiguous.
  void aKeyIsOfOneThingAlone_data() { pages_data(); }
  void aKeyIsOfOneThingAlone() {
    QFETCH(QString, page);
    show(page);
    QHash<QKeySequence, QString> actions;
    QStringList twice;
    for (const QAction* action :
         window()->actions() + window()->currentPage()->findChildren<QAction*>()) {
      if (action->shortcutContext() != Qt::WindowShortcut || action->associatedObjects().isEmpty())
        continue;
      for (const QKeySequence& key : action->shortcuts()) {
        if (actions.contains(key) && actions[key] != action->text())
          twice << key.toString() + ": " + actions[key] + ", " + action->text();
        actions[key] = action->text();
      }
    }
    QVERIFY(actions.size() > 10);
    for (const KeyTable& table : window()->currentPage()->keys()) {
      QHash<QKeySequence, QString> own;
      for (const KeyLine& line : table.lines)
        for (const QKeySequence& key : line.keys) {
          if (own.contains(key)) twice << table.title + ": " + key.toString();
          own[key] = line.text;
          if (actions.contains(key))
            twice << table.title + ": " + key.toString() + " is of " + actions[key];
        }
    }
    QVERIFY2(twice.isEmpty(), qPrintable(twice.join('\n')));
  }

  void theKeysThatAreListedWork() {
    show(QStringLiteral("live"));
    window()->currentPage()->showRun(opened_.store.runs.whole);
    QTRY_VERIFY(window()->isReady());
    auto* timeline = window()->currentPage()->findChild<TimelineWidget*>();
    QTRY_VERIFY(!timeline->rows().empty());
    listedKeysWork(timeline, TimelineWidget::keys());
    auto* chart = window()->currentPage()->findChild<LineChart*>();
    listedKeysWork(chart, LineChart::keys());
  }

 private:
  MainWindow* window() const { return opened_.window.get(); }
  void show(const QString& page) { opened_.show(page); }

  /// Escape at the end: there is something to drop then.
  void listedKeysWork(QWidget* widget, const KeyTable& table) {
    for (const KeyLine& line : table.lines)
      for (const QKeySequence& key : line.keys) {
        widget->setFocus();
        QVERIFY2(takes(widget, key), qPrintable(table.title + ": " + key.toString()));
      }
  }

  SampleWindow opened_;
};

HEDDLE_WIDGET_TEST(KeysTest)
#include "keys_test.moc"
