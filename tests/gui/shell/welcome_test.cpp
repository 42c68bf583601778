// The first screen and the tour: by keys, left with Escape, never back by themselves.
#include <QTemporaryDir>
#include <QTest>

#include "gui/theme/theme.h"
#include "gui/window/main_window.h"
#include "gui/window/tour.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

class WelcomeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    for (const char* name : {"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"})
      qputenv(name, folder_.path().toUtf8());
    Theme::install(Theme::Mode::dark);
  }

  void init() { open(); }
  void cleanup() { close(); }

  void aNewStoreIsWelcomedOnce() {
    QCOMPARE(window_->currentPage()->name(), QStringLiteral("welcome"));
    QVERIFY(!window_->findChild<Tour*>());
    QTRY_VERIFY(window_->isReady());
    close();
    open();
    QCOMPARE(window_->currentPage()->name(), QStringLiteral("runs"));
    QTest::keyClick(window_.get(), Qt::Key_0, Qt::ControlModifier);
    QCOMPARE(window_->currentPage()->name(), QStringLiteral("welcome"));
  }

  void everyWayToBeginIsReachedByTab() {
    window_->showPage(QStringLiteral("welcome"));
    auto* open = window_->findChild<QWidget*>(QStringLiteral("openSample"));
    QTRY_VERIFY(open->isEnabled());
    open->setFocus();
    QStringList visited;
    for (int i = 0; i < 5; ++i) {
      visited << QApplication::focusWidget()->objectName();
      QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
    }
    QCOMPARE(visited,
             QStringList({"openSample", "welcomeTrain", "welcomePlan", "welcomeImport", "tour"}));
  }

  void thePlanOf8BOpensInCompose() {
    window_->showPage(QStringLiteral("welcome"));
    auto* plan = window_->findChild<QAbstractButton*>(QStringLiteral("welcomePlan"));
    QCOMPARE(plan->accessibleName(), QStringLiteral("Plan Llama 3 8B on 8 × H100"));
    plan->setFocus();
    QTest::keyClick(plan, Qt::Key_Return);
    QCOMPARE(window_->currentPage()->name(), QStringLiteral("compose"));
    QCOMPARE(window_->currentPage()->subtitle(), QStringLiteral("llama3-8b-8xh100, a sample"));
  }

  void theTourPointsAtRealWidgetsAndEnds() {
    window_->showPage(QStringLiteral("welcome"));
    auto* start = window_->findChild<QAbstractButton*>(QStringLiteral("tour"));
    start->setFocus();
    QTest::keyClick(start, Qt::Key_Space);
    auto* tour = window_->findChild<Tour*>();
    QVERIFY(tour);
    QCOMPARE(window_->currentPage()->name(), QStringLiteral("compose"));
    for (const char* page : {"compose", "runs", "runs"}) {
      QCOMPARE(window_->currentPage()->name(), QLatin1String(page));
      QVERIFY(tour->rect().contains(tour->findChild<QFrame*>()->geometry()));
      QTRY_COMPARE(window_->focusWidget()->objectName(), QStringLiteral("tourNext"));
      QTest::keyClick(window_->focusWidget(), Qt::Key_Space);
    }
    QTRY_VERIFY(!window_->findChild<Tour*>());
  }

  void escapeLeavesTheTour() {
    Q_EMIT session_->tourRequested();
    QVERIFY(window_->findChild<Tour*>());
    QTest::keyClick(window_->focusWidget(), Qt::Key_Escape);
    QTRY_VERIFY(!window_->findChild<Tour*>());
  }

 private:
  void open() {
    session_ = std::make_unique<Session>(folder_.filePath(QStringLiteral("runs.sqlite")));
    session_->start();
    window_ = std::make_unique<MainWindow>(*session_);
    window_->resize(1400, 900);
    window_->show();
    window_->keepSession();
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
  }
  void close() {
    window_.reset();
    session_.reset();
  }

  QTemporaryDir folder_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<MainWindow> window_;
};

HEDDLE_WIDGET_TEST(WelcomeTest)
#include "welcome_test.moc"
