// Runs into the trash and back, deleted for good, and taken in from folders.
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <filesystem>

#include "gui/theme/theme.h"
#include "gui/views/runs/runs_page.h"
#include "tests/support/geometry.h"
#include "tests/support/sample_runs.h"
#include "tests/support/test_class.h"
#include "workbench/place.h"

using namespace heddle;
using namespace heddle::gui;

class RunTrashTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme::install(Theme::Mode::dark); }

  void init() {
    store_ = std::make_unique<samples::SampleStore>();
    {
      auto writer = storage::Writer::open(store_->path().toStdString());
      const std::string here = workbench::to_json(workbench::place_on(remote::this_machine()));
      for (const qint64 run : {store_->runs.whole, store_->runs.failed})
        QVERIFY((*writer)->set_place(run, here, {}).get().has_value());
    }
    session_ = std::make_unique<Session>(store_->path());
    page_ = std::make_unique<RunsPage>(*session_);
    page_->resize(1500, 900);
    page_->show();
    page_->activated();
    QTRY_VERIFY(rows() == 5 && page_->isReady());
  }

  void cleanup() {
    page_.reset();
    session_.reset();
    store_.reset();
  }

  void deleteMovesToTheTrashAndUndoBringsBack() {
    QSignalSpy offered(session_.get(), &Session::offered);
    select({store_->runs.whole, store_->runs.failed});
    QCOMPARE(action("discardRuns")->text(), QStringLiteral("Move 2 runs to the trash"));
    QTest::keyClick(table(), Qt::Key_Delete);
    QTRY_COMPARE(offered.count(), 1);
    QCOMPARE(offered[0][0].toString(), QStringLiteral("2 runs are in the trash"));
    QTRY_COMPARE(rows(), 3);
    offered[0][2].value<std::function<void()>>()();
    QTRY_COMPARE(rows(), 5);

    select({store_->runs.failed});
    action("discardRuns")->trigger();
    QTRY_COMPARE(offered.count(), 2);
    QCOMPARE(offered[1][0].toString(), QStringLiteral("shakespeare-nan is in the trash"));
  }

  void aRunningRunStays() {
    QSignalSpy said(session_.get(), &Session::message);
    select({store_->runs.running, store_->runs.whole});
    QTest::keyClick(table(), Qt::Key_Delete);
    QCOMPARE(said.count(), 1);
    QVERIFY(said[0][0].toString().contains(QStringLiteral("shakespeare-long is running: stop it")));
    QTRY_VERIFY(page_->isReady());
    QCOMPARE(rows(), 5);
  }

  void theTrashShowsThemAndRestores() {
    select({store_->runs.whole, store_->runs.failed});
    action("discardRuns")->trigger();
    QTRY_COMPARE(rows(), 3);
    QTRY_COMPARE(where()->button(2)->text(), QStringLiteral("Trash 2"));
    openTrash();
    QTRY_COMPARE(rows(), 2);
    QVERIFY(!action("discardRuns")->isVisible() && action("restoreRuns")->isVisible());
    select({store_->runs.failed});
    action("restoreRuns")->trigger();
    QTRY_COMPARE(rows(), 1);
    where()->button(0)->click();
    QTRY_COMPARE(rows(), 4);
  }

  void deletingForGoodSaysWhatGoes() {
    select({store_->runs.whole, store_->runs.failed});
    action("discardRuns")->trigger();
    QTRY_COMPARE(rows(), 3);
    openTrash();
    QTRY_COMPARE(rows(), 2);

    // One: it is named. Escape leaves all as it is.
    select({store_->runs.failed});
    inDialog([](RemovalDialog* dialog) {
      QCOMPARE(dialog->windowTitle(), QStringLiteral("Delete shakespeare-nan for good?"));
      const QString said = summaryOf(dialog);
      QVERIFY2(said.contains(QStringLiteral("records (")), qPrintable(said));
      QVERIFY2(said.contains(QStringLiteral("no run directory is deleted")), qPrintable(said));
      QTest::keyClick(dialog, Qt::Key_Escape);
    });
    action("removeRuns")->trigger();
    QCOMPARE(rows(), 2);

    table()->selectAll();
    inDialog([](RemovalDialog* dialog) {
      QCOMPARE(dialog->windowTitle(), QStringLiteral("Delete 2 runs for good?"));
      auto* go = dialog->findChild<QPushButton*>(QStringLiteral("deleteForGood"));
      QCOMPARE(go->text(), QStringLiteral("Delete 2 runs for good"));
      QTRY_COMPARE(misplaced(*dialog), QStringList());
      // All of both is seen at once.
      const auto* scroll = dialog->findChild<QScrollArea*>();
      QVERIFY(scroll->widget()->findChildren<QLabel*>().size() >= 4);
      QCOMPARE(scroll->verticalScrollBar()->maximum(), 0);
      go->click();
    });
    action("removeRuns")->trigger();
    QTRY_COMPARE(rows(), 0);
    auto reader = storage::Reader::open(store_->path().toStdString());
    QVERIFY(!reader->run(store_->runs.whole));
    QVERIFY(reader->run(store_->runs.unwrapped).has_value());
  }

  // A folder with run directories below it, two of one run; a second time nothing new comes.
  void droppedFoldersAreTakenIn() {
    namespace fs = std::filesystem;
    const std::string sample = std::string(HEDDLE_SOURCE_DIR) + "/resources/sample-run";
    QTemporaryDir folder;
    const fs::path root = folder.path().toStdString();
    for (const char* name : {"/one", "/below/two"}) {
      fs::create_directories(root.string() + name);
      fs::copy(sample, root.string() + name, fs::copy_options::recursive);
    }
    QSignalSpy said(session_.get(), &Session::message);
    drop(folder.path());
    QTRY_COMPARE(rows(), 6);
    QTRY_VERIFY(page_->isReady());
    QCOMPARE(page_->selectedRuns().size(), 1);
    QCOMPARE(said.last()[0].toString(),
             QStringLiteral("sample was imported; one run was here already"));
    drop(folder.path());
    QTRY_VERIFY(said.last()[0].toString() == QStringLiteral("2 runs were here already"));
    QCOMPARE(rows(), 6);
  }

 private:
  QTableView* table() const { return page_->findChild<QTableView*>(QStringLiteral("runs")); }
  int rows() const { return table()->model()->rowCount(); }
  QAction* action(const char* name) const { return page_->findChild<QAction*>(name); }
  Segment* where() const { return page_->findChild<Segment*>(QStringLiteral("where")); }

  void openTrash() {
    where()->button(2)->click();
    QTRY_VERIFY(page_->isReady());
  }

  void select(const QList<qint64>& runs) {
    QItemSelection chosen;
    for (int row = 0; row < rows(); ++row) {
      const QModelIndex index = table()->model()->index(row, 0);
      if (runs.contains(index.data(RunsModel::RunRole).toLongLong())) chosen.select(index, index);
    }
    table()->selectionModel()->select(
        chosen, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    QCOMPARE(page_->selectedRuns().size(), runs.size());
  }

  static QString summaryOf(RemovalDialog* dialog) {
    return dialog->findChild<QLabel*>(QStringLiteral("summary"))->text();
  }

  /// Once the dialog that opens next has said all.
  void inDialog(std::function<void(RemovalDialog*)> act) {
    auto* look = new QTimer(page_.get());
    connect(look, &QTimer::timeout, this, [look, act] {
      auto* dialog = qobject_cast<RemovalDialog*>(QApplication::activeModalWidget());
      if (!dialog || !dialog->isReady()) return;
      look->deleteLater();
      look->stop();
      act(dialog);
    });
    look->start(10);
  }

  void drop(const QString& folder) { Q_EMIT session_->importRequested({folder}); }

  std::unique_ptr<samples::SampleStore> store_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<RunsPage> page_;
};

HEDDLE_WIDGET_TEST(RunTrashTest)
#include "run_trash_test.moc"
