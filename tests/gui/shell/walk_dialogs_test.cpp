// Every dialog and popup that the window can open, opened by keys: what can be used in it has a
// name, Tab reaches it, Escape closes it, and the keyboard is where it was before.
#include <QDir>
#include <QDropEvent>
#include <QFile>
#include <QLineEdit>
#include <QMimeData>
#include <QTableView>

#include "gui/views/targets/key_dialog.h"
#include "storage/writer.h"
#include "tests/gui/shell/walker.h"
#include "tests/support/by_name.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"
#include "workbench/targets.h"

using namespace heddle;
using namespace heddle::gui;

class WalkDialogsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    opened_.prepare();
    auto writer = storage::Writer::open(opened_.store.path().toStdString());
    QVERIFY(writer);
    remote::Target lab;
    lab.name = "lab";
    lab.hosts.emplace_back();
    lab.hosts.back().name = "lab";
    lab.hosts.back().address = "lab.invalid";
    VERIFY_RESULT(workbench::save_target(**writer, {lab, {}}));
  }
  void init() {
    opened_.open();
    walker_.faults.clear();
  }
  void cleanup() { opened_.close(); }

  void everyDialogIsWalked_data() {
    QTest::addColumn<QString>("scene");
    QTest::addColumn<QStringList>("steps");
    QTest::addColumn<QString>("opens");
    const auto row = [](const char* scene, const QStringList& steps, const char* opens) {
      QTest::addRow("%s: %s", scene, qPrintable(steps.join(QStringLiteral(", "))))
          << scene << steps << opens;
    };
    rowsOfTheWindow(row);
    rowsOfRecipes(row);
    rowsOfLive(row);
    rowsOfRuns(row);
    rowsOfCompare(row);
    row("targets", {"palette Add host"}, "HostDialog");
    row("targets", {"focus Targets", "key Down", "palette Edit target"}, "HostDialog");
    row("targets", {"focus Targets", "key Down", "press Remove target"}, "Remove lab?");
    row("targets", {"context Targets"}, "QMenu");
  }
  void everyDialogIsWalked() {
    QFETCH(QString, scene);
    QFETCH(QStringList, steps);
    QFETCH(QString, opens);
    walker_.show(scene);
    walker_.walk(steps, opens);
    none(walker_.faults);
  }

  // No key drops a file. What opens then is used by keys.
  void theDialogOfDroppedFilesIsWalked() {
    walker_.show(QStringLiteral("runs"));
    const QDir folder(opened_.store.folder.path());
    QMimeData data;
    QList<QUrl> urls;
    for (const char* name : {"log.csv", "my.toml", "trace.json"}) {
      QFile file(folder.filePath(QLatin1String(name)));
      QVERIFY(file.open(QIODevice::WriteOnly));
      file.write("step,loss\n1,4.0\n2,3.5\n");
      urls << QUrl::fromLocalFile(file.fileName());
    }
    data.setUrls(urls);
    walker_.walk(
        [&] {
          QDragEnterEvent enter(QPoint(300, 300), Qt::CopyAction, &data, Qt::LeftButton, {});
          QCoreApplication::sendEvent(walker_.window(), &enter);
          QDropEvent event(QPointF(300, 300), Qt::CopyAction, &data, Qt::LeftButton, {});
          QCoreApplication::sendEvent(walker_.window(), &event);
        },
        QStringLiteral("DropDialog"));
    none(walker_.faults);
  }

  // They are opened by what a host answers.
  void theDialogsOfHostKeysAreWalked() {
    walker_.show(QStringLiteral("targets"));
    remote::ConnectError error;
    error.kind = remote::ConnectError::Kind::host_key_unknown;
    error.message = "The key of lab is not known";
    error.key.fingerprint = "SHA256:cGxhaW4gdGV4dCBvZiBhIGtleSB0aGF0IGlzIG5vbmU";
    UnknownKeyDialog unknown(error, walker_.window());
    walker_.walk([&] { unknown.open(); }, QStringLiteral("UnknownKeyDialog"));
    error.kind = remote::ConnectError::Kind::host_key_changed;
    RefusedKeyDialog refused(error, walker_.window());
    walker_.walk([&] { refused.open(); }, QStringLiteral("RefusedKeyDialog"));
    none(walker_.faults);
  }

  // A cell's editor is part of the table: Escape gives the keyboard back to it.
  void aNameIsEditedInItsRow() {
    walker_.show(QStringLiteral("runs"));
    auto* table = named<QTableView>(walker_.window(), QStringLiteral("Runs"));
    QVERIFY(table);
    table->setFocus();
    QTest::keyClick(table, Qt::Key_F2);
    auto* editor = qobject_cast<QLineEdit*>(QApplication::focusWidget());
    QVERIFY(editor && table->isAncestorOf(editor));
    QVERIFY(!nameOf(editor).isEmpty());
    QTest::keyClick(editor, Qt::Key_Escape);
    QTRY_VERIFY(table->hasFocus());
  }

  // Last: its run is in the trash from now on.
  void theDialogOfDeletionIsWalked() {
    walker_.show(QStringLiteral("runs"));
    walker_.walk(
        {"focus Runs", "key Del", "press Trash", "focus Runs", "key Space", "palette Delete"},
        QStringLiteral("RemovalDialog"));
    none(walker_.faults);
  }

 private:
  static void rowsOfTheWindow(const auto& row) {
    row("runs", {"key Ctrl+,"}, "Preferences");
    for (const char* page : {"compose", "launch", "live", "runs", "compare", "targets", "welcome"})
      row(page, {"key F1"}, "HelpDialog");
    row("live", {"key Ctrl+Shift+P"}, "palette");
    row("live", {"key Ctrl+Shift+M"}, "MessageList");
    row("live", {"press Workbench menu"}, "QMenu");
    row("runs", {"palette Take the tour"}, "Tour");
  }

  static void rowsOfRecipes(const auto& row) {
    row("compose", {"press Recipes"}, "QMenu");
    row("compose", {"palette Open recipe"}, "FileDialog");
    row("compose", {"palette Save recipe as"}, "FileDialog");
    row("compose", {"palette Search best layout"}, "SearchDialog");
    row("compose", {"press Memory a rank"}, "WhyPopup");
    row("compose", {"focus dim", "key Alt+Return"}, "NeighboursPopup");
    row("compose", {"press Every N layers"}, "QMenu");
    row("compose", {"context Layers"}, "QMenu");
    row("compose", {"context Buckets"}, "QMenu");
    row("compose", {"focus Recipe text", "type # mine", "palette New recipe"}, "Unsaved recipe");
    row("launch", {"press Open a recipe file"}, "FileDialog");
    row("launch", {"palette Sweep"}, "SweepDialog");
  }

  static void rowsOfLive(const auto& row) {
    row("live", {"press Run"}, "pickList");
    row("live", {"press Add chart"}, "pickList");
    row("live", {"press Add run"}, "RunChooser");
    row("live", {"press Views"}, "QMenu");
    row("live", {"press Menu of Loss"}, "QMenu");
    row("live", {"press Menu of Loss", "menu Options"}, "chartOptions");
    row("live", {"press Menu of Loss", "menu Table of values"}, "TableDialog");
    row("live", {"press Menu of Loss", "menu Save as PNG"}, "FileDialog");
    row("live", {"context Timeline"}, "QMenu");
    row("live", {"context Timeline", "menu Save as picture"}, "FileDialog");
    row("live", {"context Timeline", "menu Save as Chrome trace"}, "FileDialog");
    row("live", {"press Lanes and more of the timeline"}, "QMenu");
    row("live", {"press Step lines"}, "QMenu");
    row("running", {"palette Kill"}, "EndDialog");
  }

  static void rowsOfRuns(const auto& row) {
    row("runs", {"press Group"}, "QMenu");
    row("runs", {"press Columns"}, "ColumnPanel");
    row("runs", {"press Views"}, "QMenu");
    row("runs", {"press Views", "menu Save this view as"}, "Save this view");
    row("runs", {"focus Runs", "key H"}, "QMenu");
    row("runs", {"focus Runs", "key T"}, "TagEditor");
    row("runs", {"context Runs"}, "QMenu");
    row("runs", {"context Runs", "menu Colour", "menu Another"}, "QColorDialog");
    row("runs", {"press More for this run"}, "QMenu");
    row("runs", {"palette Resume"}, "ContinueDialog");
    row("runs", {"palette Fork from step"}, "ContinueDialog");
    row("runs", {"palette Reproduce"}, "ReproduceDialog");
    row("runs", {"palette Import"}, "FileDialog");
    row("runs", {"palette Export run"}, "FileDialog");
  }

  static void rowsOfCompare(const auto& row) {
    row("compare", {"press Add run"}, "RunChooser");
    row("compare", {"palette Report"}, "FileDialog");
    row("compare", {"context shakespeare-auto"}, "QMenu");
    row("compare", {"press Views", "menu Save view as"}, "Save view");
    row("compare", {"press Menu of Loss", "menu Options"}, "chartOptions");
    row("many", {"context Compared runs"}, "QMenu");
    row("many", {"press Axes"}, "QMenu");
    row("many", {"press Runs whose timelines are shown"}, "RunChooser");
    row("many", {"press All 5 curves"}, "allCurves");
  }

  SampleWindow opened_;
  Walker walker_{opened_};
};

HEDDLE_WIDGET_TEST(WalkDialogsTest)
#include "walk_dialogs_test.moc"
