// A run is handed on as one file through the window: saved from one store, then chosen and imported
// into another.
#include <QFileDialog>
#include <QLineEdit>
#include <QListView>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QTreeView>
#include <memory>

#include "gui/theme/theme.h"
#include "gui/views/runs/other_runs_dialog.h"
#include "gui/views/runs/runs_page.h"
#include "storage/store.h"
#include "storage/trust.h"
#include "tests/support/results.h"
#include "tests/support/sample_runs.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

namespace {

/// A visible Runs page over a store.
struct ShownRuns {
  explicit ShownRuns(const QString& store) : session(store), page(session) {
    page.resize(1500, 900);
    page.show();
    page.activated();
  }
  QTableView* table() const { return page.findChild<QTableView*>(QStringLiteral("runs")); }
  QAction* action(const QString& name) const { return page.findChild<QAction*>(name); }
  int rows() const { return table()->model()->rowCount(); }

  Session session;
  RunsPage page;
};

/// Presses the dialog's accept button as soon as it is enabled.
bool acceptDialog(QFileDialog& dialog) {
  for (auto* button : dialog.findChildren<QPushButton*>())
    if (button->isDefault() && button->isEnabled()) {
      QTest::mouseClick(button, Qt::LeftButton);
      return true;
    }
  return false;
}

/// Clicks on the entry of that name; whether it is selected then. A click misses while the dialog
/// lists its folder.
bool selectEntry(QFileDialog& dialog, const QString& name) {
  QAbstractItemView* list = dialog.findChild<QListView*>(QStringLiteral("listView"));
  if (!list->isVisible()) list = dialog.findChild<QTreeView*>(QStringLiteral("treeView"));
  const QModelIndex root = list->rootIndex();
  for (int row = 0; row < list->model()->rowCount(root); ++row) {
    const QModelIndex entry = list->model()->index(row, 0, root);
    if (entry.data().toString() != name) continue;
    QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualRect(entry).center());
    return list->selectionModel()->isSelected(entry);
  }
  return false;
}

}  // namespace

class RunFilesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    qputenv("XDG_CONFIG_HOME", settings_.path().toUtf8());
    Theme::install(Theme::Mode::dark);
  }

  void aRunThatHasNotEndedIsNotSaved() {
    ShownRuns shown(store_.path());
    QTRY_VERIFY(shown.rows() == 5 && shown.page.isReady());
    QVERIFY(shown.action("exportRunFile")->text().contains("no run is selected"));
    shown.page.showRun(store_.runs.running);
    QTRY_VERIFY(shown.action("exportRunFile")->text().contains("it has not ended"));
    QVERIFY(!shown.action("exportRunFile")->isEnabled());
  }

  void aRunIsSavedAsOneFile() {
    ShownRuns shown(store_.path());
    QTRY_VERIFY(shown.rows() == 5 && shown.page.isReady());
    shown.page.showRun(store_.runs.whole);
    QTRY_VERIFY(shown.action("exportRunFile")->isEnabled());
    withDialog([&](QFileDialog& dialog) {
      auto* name = dialog.findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
      if (name->text() != sent_.filePath("sent")) return name->setText(sent_.filePath("sent"));
      acceptDialog(dialog);
    });
    shown.action("exportRunFile")->trigger();
    QTRY_VERIFY(QFile::exists(file()));
    // Nothing is replaced.
    const QDateTime written = QFileInfo(file()).lastModified();
    QSignalSpy messages(&shown.session, &Session::message);
    shown.action("exportRunFile")->trigger();
    QTRY_VERIFY(!messages.empty() && messages.last()[0].toString().contains("it is there already"));
    QCOMPARE(QFileInfo(file()).lastModified(), written);
    poll_.stop();
  }

  void anotherPersonImportsTheFile() {
    QVERIFY(QFile::exists(file()));
    ShownRuns shown(emptyStore("theirs"));
    QTRY_VERIFY(shown.page.isReady());
    withDialog([&](QFileDialog& dialog) {
      if (dialog.directory().absolutePath() != sent_.path())
        return dialog.setDirectory(sent_.path());
      if (selectEntry(dialog, QStringLiteral("sent.heddle"))) acceptDialog(dialog);
    });
    shown.action("importRun")->trigger();
    poll_.stop();
    QTRY_COMPARE_WITH_TIMEOUT(shown.rows(), 1, 20000);
    QVERIFY(names(shown).contains("shakespeare-auto"));
  }

  // The button takes a folder instead of entering it, and keeps its label.
  void aFolderCanBeChosenToo() {
    ShownRuns shown(emptyStore("folders"));
    QTRY_VERIFY(shown.page.isReady());
    QStringList buttons;
    withDialog([&](QFileDialog& dialog) {
      if (dialog.directory().absolutePath() != above_.path())
        return dialog.setDirectory(above_.path());
      if (!selectEntry(dialog, QFileInfo(sent_.path()).fileName())) return;
      for (auto* button : dialog.findChildren<QPushButton*>())
        if (button->isDefault()) buttons << button->text();
      acceptDialog(dialog);
    });
    shown.action("importRun")->trigger();
    poll_.stop();
    QCOMPARE(buttons, QStringList{"Import"});
    QTRY_COMPARE_WITH_TIMEOUT(shown.rows(), 1, 20000);
  }

  // Two of the five are ticked; the one that goes on is not listed. The other store is as it was.
  void runsOfAnotherStoreAreCompared() {
    ShownRuns shown(emptyStore("mine"));
    QTRY_VERIFY(shown.page.isReady());
    QSignalSpy compared(&shown.session, &Session::compareRequested);
    const QStringList before = QDir(store_.folder.path()).entryList(QDir::Files);
    chooseStore();
    Q_EMIT shown.session.otherStoreRequested({77});
    poll_.stop();
    OtherRunsDialog* dialog = nullptr;
    QTRY_VERIFY((dialog = shown.page.window()->findChild<OtherRunsDialog*>()));
    auto* list = dialog->findChild<QListView*>();
    auto* field = dialog->findChild<QLineEdit*>();
    auto* accept = dialog->findChild<QPushButton*>(QStringLiteral("takeRuns"));
    QCOMPARE(list->model()->rowCount(), 4);
    QVERIFY(!accept->isEnabled());
    for (const char* name : {"shakespeare-auto", "shakespeare-none"}) {
      field->clear();
      QTest::keyClicks(field, name);
      QCOMPARE(list->model()->rowCount(), 1);
      QTest::keyClick(field, Qt::Key_Return);
    }
    QCOMPARE(accept->text(), QStringLiteral("Compare 2 runs"));
    QTest::mouseClick(accept, Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(compared.size(), 1, 20000);
    const auto runs = compared[0][0].value<QList<qint64>>();
    QVERIFY(runs.size() == 3 && runs[0] == 77);
    QTRY_COMPARE(shown.rows(), 2);
    QCOMPARE(QDir(store_.folder.path()).entryList(QDir::Files), before);
  }

  // Import… of a store asks which of its runs; all are ticked at first.
  void runsOfAStoreAreChosenForImport() {
    ShownRuns shown(emptyStore("chosen"));
    QTRY_VERIFY(shown.page.isReady());
    chooseStore();
    shown.action("importRun")->trigger();
    poll_.stop();
    OtherRunsDialog* dialog = nullptr;
    QTRY_VERIFY((dialog = shown.page.window()->findChild<OtherRunsDialog*>()));
    auto* accept = dialog->findChild<QPushButton*>(QStringLiteral("takeRuns"));
    auto* all = dialog->findChild<QPushButton*>(QStringLiteral("tickListed"));
    QCOMPARE(accept->text(), QStringLiteral("Import 4 runs"));
    QTest::mouseClick(all, Qt::LeftButton);
    QVERIFY(!accept->isEnabled());
    QTest::mouseClick(all, Qt::LeftButton);
    auto* list = dialog->findChild<QListView*>();
    QTest::mouseClick(list->viewport(), Qt::LeftButton, {},
                      list->visualRect(list->model()->index(0, 0)).center());
    QCOMPARE(accept->text(), QStringLiteral("Import 3 runs"));
    QTest::mouseClick(accept, Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(shown.rows(), 3, 20000);
  }

  void anImportSaysHowFarItIs() {
    QCOMPARE(wordsOf({.seen = 1234}), QStringLiteral("Looking for runs; 1,234 files so far …"));
    QCOMPARE(wordsOf({.seen = 20, .done = 2, .total = 12}), QStringLiteral("Importing 3 of 12 …"));
  }

  // A window that is closed does not wait for the rest of a large folder.
  void anImportEndsWithItsPage() {
    constexpr int kMany = 2000;
    QTemporaryDir folder;
    for (int i = 0; i < kMany; ++i) {
      QFile log(folder.filePath(QStringLiteral("%1.csv").arg(i)));
      QVERIFY(log.open(QIODevice::WriteOnly));
      log.write(QStringLiteral("step,loss\n1,%1\n").arg(i).toUtf8());
    }
    const QString store = emptyStore("many");
    storage::Reader reader = must(storage::Reader::open(store.toStdString()));
    auto shown = std::make_unique<ShownRuns>(store);
    QTRY_VERIFY(shown->page.isReady());
    Q_EMIT shown->session.importRequested({folder.path()});
    QTRY_VERIFY_WITH_TIMEOUT(!must(reader.runs()).empty(), 20000);
    shown.reset();
    const auto runs = must(reader.runs());
    QVERIFY2(runs.size() < kMany / 2, qPrintable(QString::number(runs.size())));
    for (const auto& run : runs) QVERIFY(storage::has_ended(run.state));
  }

 private:
  QString file() const { return sent_.filePath("sent.heddle"); }

  QString emptyStore(const QString& name) const {
    const std::string path = stores_.filePath(name + ".sqlite").toStdString();
    must(storage::prepare(path));
    must(storage::trust(path));
    return QString::fromStdString(path);
  }

  /// In the file dialog that opens next: the sample store.
  void chooseStore() {
    withDialog([this](QFileDialog& dialog) {
      if (dialog.directory().absolutePath() != store_.folder.path())
        return dialog.setDirectory(store_.folder.path());
      if (selectEntry(dialog, QStringLiteral("runs.sqlite"))) acceptDialog(dialog);
    });
  }

  QStringList names(const ShownRuns& shown) const {
    QStringList found;
    for (int column = 0; column < shown.table()->model()->columnCount(); ++column)
      found << shown.table()->model()->index(0, column).data().toString();
    return found;
  }

  /// Calls `act` repeatedly with the open file dialog.
  void withDialog(std::function<void(QFileDialog&)> act) {
    poll_.disconnect();
    connect(&poll_, &QTimer::timeout, this, [act = std::move(act)] {
      if (auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget()))
        act(*dialog);
    });
    poll_.start(30);
  }

  QTemporaryDir settings_, stores_;
  QTemporaryDir above_;  // nothing else is in it
  QTemporaryDir sent_{above_.filePath("sent-XXXXXX")};
  samples::SampleStore store_;
  QTimer poll_;
};

HEDDLE_WIDGET_TEST(RunFilesTest)
#include "run_files_test.moc"
