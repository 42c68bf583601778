// The first start as a new user has it: an empty store gets the sample run, one button trains on
// this machine with the real engine, another stops the run.
#include <QAction>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include "gui/theme/theme.h"
#include "gui/views/runs/runs_model.h"
#include "gui/views/runs/runs_page.h"
#include "gui/window/main_window.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

class FirstStartTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    for (const char* name : {"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"})
      qputenv(name, folder_.path().toUtf8());
    Theme::install(Theme::Mode::dark);
  }

  void theSampleRunIsThereAndOneButtonTrains() {
    const QString store = folder_.filePath(QStringLiteral("first.sqlite"));
    Session session(store);
    session.start();
    MainWindow window(session);
    window.resize(1400, 900);
    window.show();
    window.keepSession();
    QCOMPARE(window.currentPage()->name(), QStringLiteral("welcome"));
    auto* open = window.findChild<QAbstractButton*>(QStringLiteral("openSample"));
    QTRY_VERIFY_WITH_TIMEOUT(open->isEnabled(), 30000);
    open->setFocus();
    QTest::keyClick(open, Qt::Key_Return);
    QCOMPARE(window.currentPage()->name(), QStringLiteral("live"));
    window.showPage(QStringLiteral("runs"));
    auto* table = window.currentPage()->findChild<QTableView*>(QStringLiteral("runs"));
    QTRY_COMPARE_WITH_TIMEOUT(table->model()->rowCount(), 1, 30000);
    QTRY_COMPARE(table->model()->index(0, RunsModel::State).data().toString(),
                 QStringLiteral("done"));
    QVERIFY(table->model()->index(0, RunsModel::Tags).data().toString().contains("sample"));

    QVERIFY2(QFileInfo::exists(QStringLiteral(HEDDLE_BINARY_DIR "/heddle-engine")),
             "heddle-engine is not beside the tests");
    window.findChild<QPushButton*>(QStringLiteral("trainHere"))->click();
    QTRY_COMPARE_WITH_TIMEOUT(window.currentPage()->name(), QStringLiteral("live"), 60000);
    QTRY_VERIFY_WITH_TIMEOUT(newest(store).steps > 3, 120000);
    QVERIFY(newest(store).loss.has_value());
    const QList<QAction*> actions = window.currentPage()->pageActions();
    const auto stop = std::find_if(actions.begin(), actions.end(), [](const QAction* action) {
      return action->objectName() == QStringLiteral("stop");
    });
    QVERIFY(stop != actions.end());
    (*stop)->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(storage::has_ended(newest(store).state), 120000);
    const storage::RunSummary run = newest(store);
    QVERIFY2(run.state == storage::RunState::stopped, run.cause.c_str());
  }

 private:
  static storage::RunSummary newest(const QString& store) {
    auto reader = storage::Reader::open(store.toStdString());
    if (!reader) return {};
    const auto runs = reader->runs();
    return runs && runs->size() > 1 ? runs->front() : storage::RunSummary{};
  }

  QTemporaryDir folder_;
};

HEDDLE_WIDGET_TEST(FirstStartTest)
#include "first_start_test.moc"
