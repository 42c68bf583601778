// The keyboard: the help, the search of each page, and keys that are each of one thing alone.
#include <QScrollBar>
#include <QTest>

#include "gui/charts/line_chart.h"
#include "gui/theme/theme.h"
#include "gui/timeline/timeline_widget.h"
#include "gui/views/runs/runs_table.h"
#include "gui/window/help_dialog.h"
#include "gui/window/main_window.h"
#include "gui/window/pages.h"
#include "storage/trust.h"
#include "tests/support/sample_runs.h"
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
  void initTestCase() {
    qputenv("XDG_CONFIG_HOME", store_.folder.filePath(QStringLiteral("config")).toUtf8());
    qputenv("XDG_DATA_HOME", store_.folder.filePath(QStringLiteral("data")).toUtf8());
    qputenv("HOME", store_.folder.path().toUtf8());
    QVERIFY(storage::trust(store_.path().toStdString()));
    Theme::install(Theme::Mode::dark);
  }

  void init() {
    session_ = std::make_unique<Session>(store_.path());
    window_ = std::make_unique<MainWindow>(*session_);
    window_->resize(1400, 900);
    window_->show();
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
  }

  void cleanup() {
    window_.reset();
    session_.reset();
  }

  void pages_data() {
    QTest::addColumn<QString>("page");
    for (const PageEntry& entry : pages()) QTest::addRow("%s", entry.name) << entry.name;
  }

  void helpShowsThePageAndItsKeysFirst_data() { pages_data(); }
  void helpShowsThePageAndItsKeysFirst() {
    QFETCH(QString, page);
    show(page);
    QTest::keyClick(window_.get(), Qt::Key_F1);
    auto* help = window_->findChild<HelpDialog*>();
    QVERIFY(help && help->isVisible());
    QVERIFY(help->windowTitle().contains(window_->currentPage()->title()));
    QCOMPARE(help->findChild<QLabel*>(QStringLiteral("pageHelp"))->text(),
             window_->currentPage()->help());
    const auto* list = help->findChild<QListView*>();
    const QStringList texts = textsOf(list);
    for (const KeyTable& table : window_->currentPage()->keys()) {
      QVERIFY(texts.contains(table.title));
      QVERIFY(texts.indexOf(table.title) < texts.indexOf(QStringLiteral("Everywhere")));
      for (const KeyLine& line : table.lines) QVERIFY(texts.contains(line.text));
    }
    QVERIFY(texts.contains(QStringLiteral("Command palette")));
    QTest::keyClick(help, Qt::Key_Escape);
    QTRY_VERIFY(!window_->findChild<HelpDialog*>());
  }

  void helpIsSearchedByTyping() {
    show(QStringLiteral("runs"));
    QTest::keyClick(window_.get(), Qt::Key_Question);
    auto* help = window_->findChild<HelpDialog*>();
    QVERIFY(help);
    auto* field = help->findChild<QLineEdit*>();
    QTRY_VERIFY(field->hasFocus());
    QTest::keyClicks(field, QStringLiteral("ctrl+shift+p"));
    auto* list = help->findChild<QListView*>();
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
    QTest::keyClick(window_.get(), Qt::Key_F, Qt::ControlModifier);
    auto* field = qobject_cast<QLineEdit*>(QApplication::focusWidget());
    QVERIFY(field);
    QTest::keyClick(field, '?', Qt::ShiftModifier);
    QCOMPARE(field->text(), QStringLiteral("?"));
    QVERIFY(!window_->findChild<HelpDialog*>());
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
    QTest::keyClick(window_.get(), Qt::Key_F, Qt::ControlModifier);
    QTRY_VERIFY(qobject_cast<QLineEdit*>(QApplication::focusWidget()));
    const QString name = QApplication::focusWidget()->accessibleName();
    QVERIFY2(name.startsWith(beginning), qPrintable(name));
    QVERIFY(window_->currentPage()->isAncestorOf(QApplication::focusWidget()));
  }

  void findWithoutASearchOpensThePalette() {
    show(QStringLiteral("launch"));
    QTest::keyClick(window_.get(), Qt::Key_F, Qt::ControlModifier);
    auto* palette = window_->findChild<CommandPalette*>();
    QVERIFY(palette->isVisible());
    QTest::keyClick(palette->findChild<QLineEdit*>(), Qt::Key_Escape);
  }

  void hostsAreFoundByTyping() {
    show(QStringLiteral("targets"));
    QTest::keyClick(window_.get(), Qt::Key_F, Qt::ControlModifier);
    auto* field = qobject_cast<QLineEdit*>(QApplication::focusWidget());
    QVERIFY(field);
    auto* list = window_->currentPage()->findChild<QListView*>(QStringLiteral("targets"));
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
         window_->actions() + window_->currentPage()->findChildren<QAction*>()) {
      if (action->shortcutContext() != Qt::WindowShortcut || action->associatedObjects().isEmpty())
        continue;
      for (const QKeySequence& key : action->shortcuts()) {
        if (actions.contains(key) && actions[key] != action->text())
          twice << key.toString() + ": " + actions[key] + ", " + action->text();
        actions[key] = action->text();
      }
    }
    QVERIFY(actions.size() > 10);
    for (const KeyTable& table : window_->currentPage()->keys()) {
      QHash<QKeySequence, QString> own;
      for (const KeyLine& line : table.lines)
        for (const QKeySequence& key : line.keys) {
          if (own.contains(key)) twice << table.title + ": " + key.toString();
          own[key] = line.text;
          // A timeline's own search is what the page's Find means there.
          if (actions.contains(key) && key != QKeySequence(QKeySequence::Find))
            twice << table.title + ": " + key.toString() + " is of " + actions[key];
        }
    }
    QVERIFY2(twice.isEmpty(), qPrintable(twice.join('\n')));
  }

  void theKeysThatAreListedWork() {
    show(QStringLiteral("live"));
    window_->currentPage()->showRun(store_.runs.whole);
    QTRY_VERIFY(window_->isReady());
    auto* timeline = window_->currentPage()->findChild<TimelineWidget*>();
    QTRY_VERIFY(!timeline->rows().empty());
    listedKeysWork(timeline, TimelineWidget::keys());
    auto* chart = window_->currentPage()->findChild<LineChart*>();
    listedKeysWork(chart, LineChart::keys());
  }

 private:
  void show(const QString& page) {
    window_->showPage(page);
    QTRY_VERIFY(window_->isReady());
    // Without a desktop a popup that was made on the way takes the activation.
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
    window_->currentPage()->setFocus();
  }

  /// Escape at the end: there is something to drop then.
  void listedKeysWork(QWidget* widget, const KeyTable& table) {
    for (const KeyLine& line : table.lines)
      for (const QKeySequence& key : line.keys) {
        widget->setFocus();
        QVERIFY2(takes(widget, key), qPrintable(table.title + ": " + key.toString()));
      }
  }

  samples::SampleStore store_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<MainWindow> window_;
};

HEDDLE_WIDGET_TEST(KeysTest)
#include "keys_test.moc"
