// Ends and alerts of runs that nobody looks at: a toast in the window, a notification of the
// desktop where the window is not active and nobody turned them off.
#include "gui/window/notifier.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "gui/preferences.h"
#include "gui/theme/theme.h"
#include "gui/window/main_window.h"
#include "storage/store.h"
#include "storage/trust.h"
#include "storage/writer.h"
#include "tests/gui/shell/desktop.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"
#include "workbench/alerts.h"

using namespace heddle;
using namespace heddle::gui;

class NotifierTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    const QString reason = bus_.start();
    QVERIFY2(reason.isEmpty(), qPrintable(reason));
    qputenv("XDG_CONFIG_HOME", folder_.filePath("config").toUtf8());
    qputenv("XDG_DATA_HOME", folder_.filePath("data").toUtf8());
    Theme::install(Theme::Mode::dark);
    path_ = folder_.filePath("heddle.sqlite").toStdString();
    must(storage::prepare(path_));
    QVERIFY(storage::trust(path_));
    writer_ = must(storage::Writer::open(path_));
    must(writer_->take_lease());
    storage::NewRun wanted;
    wanted.name = "night";
    wanted.target = "this-machine";
    run_ = must(writer_->create_run(wanted).get()).id;
    must(writer_->set_state(run_, storage::RunState::running).get());
    alert("of yesterday");
    session_ = std::make_unique<Session>(QString::fromStdString(path_));
    window_ = std::make_unique<MainWindow>(*session_);
    window_->show();
    session_->start();
    other_ = std::make_unique<QWidget>();
    other_->show();
    other_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(other_.get()));
    notifier_ = window_->findChild<Notifier*>();
    QTest::qWait(2500);  // the first look brings no news
  }
  void cleanupTestCase() {
    other_.reset();
    window_.reset();
    session_.reset();
  }

  void an_alert_is_a_message_and_a_notification() {
    test::Desktop desktop(bus_);
    QSignalSpy messages(session_.get(), &Session::message);
    QSignalSpy notified(notifier_, &Notifier::notified);
    alert("step 40: loss 9.410");
    QTRY_COMPARE_WITH_TIMEOUT(notified.size(), 1, 20000);
    QCOMPARE(notified[0][0].toString(), QString("night: loss spike"));
    QCOMPARE(notified[0][1].toString(), QString("step 40: loss 9.410"));
    QCOMPARE(messages.size(), 1);
    QCOMPARE(messages[0][0].toString(), QString("night: loss spike: step 40: loss 9.410"));
    QTRY_COMPARE(desktop.shown.size(), size_t{1});  // the bus is opened for it
  }

  void the_desktop_shows_it_and_a_click_opens_the_run() {
    test::Desktop desktop(bus_);
    QSignalSpy requested(session_.get(), &Session::runRequested);
    alert("step 45: loss 9.410");
    QTRY_COMPARE_WITH_TIMEOUT(desktop.shown.size(), size_t{1}, 20000);
    QCOMPARE(desktop.shown[0].title, QString("night: loss spike"));
    QCOMPARE(desktop.shown[0].text, QString("step 45: loss 9.410"));
    QTest::qWait(100);  // for its id
    desktop.click(1);
    QTRY_COMPARE(requested.size(), 1);
    QCOMPARE(requested[0][0].toString(), QString("live"));
    QCOMPARE(requested[0][1].toLongLong(), qint64{run_});
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
    QTRY_COMPARE(desktop.withdrawn, QList<uint>{1});
    other_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(other_.get()));
  }

  void an_active_window_needs_no_notification() {
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
    QSignalSpy messages(session_.get(), &Session::message);
    QSignalSpy notified(notifier_, &Notifier::notified);
    alert("step 50: loss 9.410");
    QTRY_COMPARE_WITH_TIMEOUT(messages.size(), 1, 20000);
    QCOMPARE(notified.size(), 0);
    other_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(other_.get()));
  }

  void alerts_can_be_turned_off() {
    Preferences chosen;
    chosen.notifiesAlerts = false;
    KeptPreferences::instance().set(chosen);
    QSignalSpy messages(session_.get(), &Session::message);
    QSignalSpy notified(notifier_, &Notifier::notified);
    alert("step 60: loss 9.410");
    QTRY_COMPARE_WITH_TIMEOUT(messages.size(), 1, 20000);
    QCOMPARE(notified.size(), 0);
  }

  void ends_and_failures_are_kinds_of_their_own() {
    Preferences chosen;
    chosen.notifiesAlerts = chosen.notifiesFailures = false;
    KeptPreferences::instance().set(chosen);
    QSignalSpy notified(notifier_, &Notifier::notified);
    end("lost one", storage::RunState::failed);
    end("good one", storage::RunState::done);
    QTRY_COMPARE_WITH_TIMEOUT(notified.size(), 1, 20000);
    QCOMPARE(notified[0][0].toString(), QString("good one is done"));
    KeptPreferences::instance().set({});
  }

  void an_end_is_a_notification() {
    QSignalSpy notified(notifier_, &Notifier::notified);
    must(writer_->set_state(run_, storage::RunState::failed, "rank 1 was killed").get());
    QTRY_COMPARE_WITH_TIMEOUT(notified.size(), 1, 20000);
    QCOMPARE(notified[0][0].toString(), QString("night failed"));
    QVERIFY(notified[0][1].toString().startsWith("rank 1 was killed"));
  }

 private:
  /// A run that the window has seen running ends.
  void end(const std::string& name, storage::RunState state) {
    storage::NewRun wanted;
    wanted.name = name;
    wanted.target = "this-machine";
    const storage::RunId run = must(writer_->create_run(wanted).get()).id;
    must(writer_->set_state(run, storage::RunState::running).get());
    QTest::qWait(2500);
    must(writer_->set_state(run, state).get());
  }
  void alert(const std::string& words) {
    must(writer_->add_line(run_, workbench::line_of({workbench::AlertKind::spike, false, words}))
             .get());
  }

  test::SessionBus bus_;
  QTemporaryDir folder_;
  std::string path_;
  std::unique_ptr<storage::Writer> writer_;
  storage::RunId run_ = 0;
  std::unique_ptr<Session> session_;
  std::unique_ptr<MainWindow> window_;
  std::unique_ptr<QWidget> other_;
  Notifier* notifier_ = nullptr;
};

HEDDLE_WIDGET_TEST(NotifierTest)
#include "notifier_test.moc"
