// A restart shows what was shown: page, run, choices in Compare, filter, folds, chosen rows and
// place in Runs. Another store has a session of its own, runs that have gone are dropped in
// silence, and a kill loses no more than the last second.
#include <QComboBox>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "gui/models/run_ids.h"
#include "gui/theme/theme.h"
#include "gui/views/compare/compare_page.h"
#include "gui/views/live/run_picker.h"
#include "gui/views/runs/runs_page.h"
#include "gui/window/main_window.h"
#include "storage/trust.h"
#include "storage/writer.h"
#include "tests/support/results.h"
#include "tests/support/sample_runs.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

class RestartTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    qputenv("XDG_CONFIG_HOME", home_.filePath("config").toUtf8());
    qputenv("XDG_DATA_HOME", home_.filePath("data").toUtf8());
    qputenv("HOME", home_.path().toUtf8());
    Theme::install(Theme::Mode::dark);
  }

  void init() {
    QDir(home_.filePath("config")).removeRecursively();
    store_ = std::make_unique<samples::SampleStore>();
    QVERIFY(storage::trust(store_->path().toStdString()));
    start(store_->path());
  }

  void cleanup() { end(); }

  void the_page_and_the_run_in_live_are_back() {
    Q_EMIT session_->runRequested("live", store_->runs.failed);
    QTRY_VERIFY(window_->isReady());
    startAgain();
    QCOMPARE(page(), QString("live"));
    QTRY_VERIFY(liveShows("shakespeare-nan"));
  }

  void unless_one_was_picked_live_shows_the_newest() {
    window_->showPage("live");
    QTRY_VERIFY(window_->isReady());
    startAgain();
    QVERIFY(!window_->page("live")->keptState().contains("run"));
  }

  void choices_in_compare_are_back() {
    const samples::Filled& runs = store_->runs;
    Q_EMIT session_->compareRequested({runs.whole, runs.unwrapped, runs.stopped});
    QTRY_VERIFY(window_->isReady());
    box("Coloured by")->setFocus();
    QTest::keyClick(box("Coloured by"), Qt::Key_Down);
    box("Grouped by")->setFocus();
    QTest::keyClick(box("Grouped by"), Qt::Key_Down);
    const QString colored = box("Coloured by")->currentText();
    QVERIFY(colored != box("Coloured by")->itemText(0));
    pressOnChip("shakespeare-none", Qt::Key_B);
    pressOnChip("lr3e-4", Qt::Key_H);
    startAgain();
    QCOMPARE(page(), QString("compare"));
    QTRY_VERIFY(window_->isReady());
    const QJsonObject again = window_->page("compare")->keptState()["choices"].toObject();
    QCOMPARE(runIds(again["runs"]), QList<qint64>({runs.whole, runs.unwrapped, runs.stopped}));
    QCOMPARE(again["baseline"].toInteger(), runs.unwrapped);
    QCOMPARE(runIds(again["hidden"]), QList<qint64>{runs.stopped});
    QVERIFY(window_->findChild<QPushButton*>("showAllRuns")->isVisible());
    QTRY_COMPARE(box("Coloured by")->currentText(), colored);
    QCOMPARE(box("Grouped by")->currentIndex(), 1);
  }

  void a_run_that_has_gone_is_dropped_in_silence() {
    const samples::Filled runs = store_->runs;
    Q_EMIT session_->compareRequested({runs.whole, runs.unwrapped, runs.stopped});
    Q_EMIT session_->runRequested("live", runs.unwrapped);
    QTRY_VERIFY(window_->isReady());
    end();
    remove(runs.unwrapped);
    start(store_->path());
    QSignalSpy said(session_.get(), &Session::message);
    QTRY_VERIFY(window_->isReady());
    QVERIFY(!liveShows("shakespeare-none"));
    window_->showPage("compare");
    QTRY_COMPARE(static_cast<ComparePage*>(window_->currentPage())->runs(),
                 QList<qint64>({runs.whole, runs.stopped}));
    QCOMPARE(said.size(), 0);
  }

  void filter_folds_and_chosen_rows_are_back() {
    QTRY_VERIFY(window_->isReady());
    groupBy("state");
    auto* filter = runs()->findChild<QLineEdit*>("filter");
    filter->setFocus();
    QTest::keyClicks(filter, "steps > 0");
    QTRY_VERIFY(window_->isReady());
    table()->setFocus();
    table()->setCurrentIndex(table()->model()->index(0, RunsModel::Name));
    QTest::keyClick(table(), Qt::Key_Left);  // folds the first group
    const int folded = table()->model()->rowCount();
    const int last = folded - 1;
    table()->setCurrentIndex(table()->model()->index(last, RunsModel::Name));
    QTest::keyClick(table(), Qt::Key_Space);
    const QList<qint64> chosen = runs()->selectedRuns();
    QVERIFY(!chosen.isEmpty());
    startAgain();
    QTRY_COMPARE(runs()->findChild<QLineEdit*>("filter")->text(), QString("steps > 0"));
    QTRY_COMPARE(runs()->selectedRuns(), chosen);
    QCOMPARE(table()->model()->rowCount(), folded);
  }

  void the_place_in_a_long_table_is_back() {
    end();
    const samples::ManyRuns many(400);
    QVERIFY(storage::trust(many.path().toStdString()));
    start(many.path());
    QTRY_COMPARE(table()->model()->rowCount(), 400);
    table()->scrollTo(table()->model()->index(200, 0), QAbstractItemView::PositionAtTop);
    table()->setCurrentIndex(table()->model()->index(205, RunsModel::Name));
    const QVariant name = table()->currentIndex().data();
    const int top = table()->rowAt(0);
    QVERIFY(top > 100);
    end();
    start(many.path());
    QTRY_COMPARE(table()->rowAt(0), top);
    QCOMPARE(table()->currentIndex().data(), name);
  }

  void a_page_that_was_not_looked_at_keeps_its_state() {
    const QList<qint64> compared{store_->runs.whole, store_->runs.unwrapped};
    Q_EMIT session_->compareRequested(compared);
    QTRY_VERIFY(window_->isReady());
    window_->showPage("targets");
    startAgain();
    QCOMPARE(page(), QString("targets"));
    QVERIFY(!window_->findChild<ComparePage*>());
    startAgain();
    window_->showPage("compare");
    QCOMPARE(static_cast<ComparePage*>(window_->currentPage())->runs(), compared);
  }

  void another_store_has_its_own() {
    Q_EMIT session_->runRequested("live", store_->runs.failed);
    QTRY_VERIFY(window_->isReady());
    end();
    const samples::SampleStore other;
    QVERIFY(storage::trust(other.path().toStdString()));
    start(other.path());
    QCOMPARE(page(), QString("runs"));
    window_->showPage("targets");
    end();
    start(store_->path());
    QCOMPARE(page(), QString("live"));
    end();
    start(other.path());
    QCOMPARE(page(), QString("targets"));
  }

  void another_file_at_the_stores_place_has_none() {
    if (!QFileInfo(store_->path()).birthTime().isValid())
      QSKIP("this file system does not say when a file was made");
    Q_EMIT session_->runRequested("live", store_->runs.failed);
    QTRY_VERIFY(window_->isReady());
    end();
    QTest::qWait(20);  // its birth differs by a millisecond at least
    const QString path = store_->path(), copy = path + ".copy";
    QVERIFY(QFile::copy(path, copy) && QFile::remove(path) && QFile::rename(copy, path));
    QVERIFY(storage::trust(path.toStdString()));
    start(path);
    QCOMPARE(page(), QString("runs"));
  }

  void a_kill_loses_the_last_second_alone() {
    Q_EMIT session_->runRequested("live", store_->runs.failed);
    const KeptSession kept(store_->path());
    QTRY_COMPARE(kept.read()["page"].toString(), QString("live"));
    QTRY_COMPARE(kept.read()["live"].toObject()["run"].toInteger(), store_->runs.failed);
  }

  void a_torn_session_is_none() {
    const QString file = KeptSession(store_->path()).file();
    window_->showPage("targets");
    end();
    QFile torn(file);
    QVERIFY(torn.open(QIODevice::ReadWrite));
    torn.resize(torn.size() / 2);
    torn.close();
    start(store_->path());
    QCOMPARE(page(), QString("runs"));
  }

 private:
  void start(const QString& path) {
    session_ = std::make_unique<Session>(path);
    window_ = std::make_unique<MainWindow>(*session_);
    window_->resize(1400, 900);
    window_->keepSession();
    window_->show();
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
  }
  void end() {
    window_.reset();
    session_.reset();
  }
  void startAgain() {
    end();
    start(store_->path());
  }
  void remove(storage::RunId run) {
    auto writer = must(storage::Writer::open(store_->path().toStdString()));
    must(writer->remove(run).get());
  }
  void groupBy(const QString& column) {
    auto* menu = runs()->findChild<QPushButton*>("groupRuns")->menu();
    Q_EMIT menu->aboutToShow();
    for (QAction* action : menu->actions())
      if (action->text() == column) return action->trigger();
    QFAIL("there is no such column");
  }
  QComboBox* box(const char* name) const {
    for (QComboBox* each : window_->page("compare")->findChildren<QComboBox*>())
      if (each->accessibleName() == QLatin1String(name)) return each;
    qFatal("there is no box %s", name);
  }
  void pressOnChip(const QString& run, Qt::Key key) {
    for (QWidget* each : window_->page("compare")->findChild<RunChips*>()->findChildren<QWidget*>())
      if (each->isVisible() && each->focusPolicy() != Qt::NoFocus &&
          each->accessibleName().contains(run) && !qobject_cast<QAbstractButton*>(each))
        return QTest::keyClick(each, key);
    QFAIL("there is no such chip");
  }
  bool liveShows(const QString& words) const {
    const auto* picker = window_->findChild<RunPicker*>();
    return picker->isVisible() && picker->currentText().contains(words);
  }
  QString page() const { return window_->currentPage()->name(); }
  RunsPage* runs() const { return static_cast<RunsPage*>(window_->page("runs")); }
  QTableView* table() const { return runs()->findChild<QTableView*>("runs"); }

  QTemporaryDir home_;
  std::unique_ptr<samples::SampleStore> store_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<MainWindow> window_;
};

HEDDLE_WIDGET_TEST(RestartTest)
#include "restart_test.moc"
