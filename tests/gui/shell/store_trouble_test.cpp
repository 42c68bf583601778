// A store that changes or fails under an open window: other processes write to it, or its disk is
// full.
#include <QProcess>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <random>

#include "gui/theme/theme.h"
#include "gui/views/runs/runs_model.h"
#include "gui/window/main_window.h"
#include "storage/store.h"
#include "storage/writer.h"
#include "tests/storage/faulty_disk.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::gui;

class StoreTroubleTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    for (const char* variable : {"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"})
      qputenv(variable, folder_.filePath("home").toUtf8());
    Theme::install(Theme::Mode::dark);
  }

  void init() {
    path_ = folder_.filePath(QStringLiteral("%1.sqlite").arg(QTest::currentTestFunction()));
    const auto writer = must(storage::Writer::open(path_.toStdString()));
    for (const char* name : {"first", "second"}) {
      storage::NewRun run;
      run.name = name;
      run.target = "this-machine";
      runs_[name] = must(writer->create_run(run)).id;
      must(writer->set_state(runs_[name], storage::RunState::done, "", 1.0));
    }
  }

  // A real process makes each change, and the window shows it without a key or click.
  void whatOtherProcessesWriteIsShown() {
    open();
    QTRY_COMPARE(names(), (QSet<QString>{"first", "second"}));
    QFile log(folder_.filePath("third.csv"));
    QVERIFY(log.open(QIODevice::WriteOnly));
    log.write("step,loss\n1,4.0\n2,3.5\n");
    log.close();
    run({"import", log.fileName()});
    QTRY_COMPARE_WITH_TIMEOUT(names(), (QSet<QString>{"first", "second", "third"}), 20000);
    run({"runs", "rename", "first", "renamed"});
    QTRY_COMPARE_WITH_TIMEOUT(names(), (QSet<QString>{"renamed", "second", "third"}), 20000);
    run({"runs", "note", "second", "written elsewhere"});
    run({"remove", "third"});
    QTRY_COMPARE_WITH_TIMEOUT(names(), (QSet<QString>{"renamed", "second"}), 20000);
    // The window itself still writes.
    session_->keep([id = runs_["first"]](workbench::Workbench& workbench) {
      return workbench.writer().rename(id, "again").get();
    });
    QTRY_COMPARE_WITH_TIMEOUT(names(), (QSet<QString>{"again", "second"}), 20000);
    close();
  }

  // The store stays readable, nothing is lost, and work continues once there is room.
  void aFullDiskIsNamedAndTheWindowGoesOn() {
    storage::FaultyDisk disk;
    open();
    QTRY_COMPARE(names(), (QSet<QString>{"first", "second"}));
    QSignalSpy messages(session_.get(), &Session::message);
    disk.full_at(1);
    const auto rename = [id = runs_["first"]](workbench::Workbench& workbench) {
      return workbench.writer().rename(id, "renamed").get();
    };
    session_->keep(rename);
    QTRY_VERIFY(!messages.empty());
    QVERIFY2(messages.last()[0].toString().contains("the disk is full"),
             qPrintable(messages.last()[0].toString()));
    for (const char* page : {"compare", "targets", "live", "runs"}) {
      window_->showPage(QLatin1String(page));
      QTRY_VERIFY_WITH_TIMEOUT(window_->isReady(), 20000);
    }
    QCOMPARE(names(), (QSet<QString>{"first", "second"}));
    std::mt19937 random(7);
    disk.mend(random);
    session_->keep(rename);
    QTRY_COMPARE_WITH_TIMEOUT(names(), (QSet<QString>{"renamed", "second"}), 20000);
    close();
  }

 private:
  void open() {
    session_ = std::make_unique<Session>(path_);
    window_ = std::make_unique<MainWindow>(*session_);
    window_->resize(1400, 900);
    window_->show();
    session_->start();
    window_->showPage(QStringLiteral("runs"));
  }
  void close() {
    window_.reset();
    session_.reset();
  }

  void run(const QStringList& words) const {
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.start(QStringLiteral(HEDDLE_BINARY_DIR "/heddle"),
                  QStringList{"--store", path_} + words);
    QVERIFY(process.waitForFinished(60000));
    QVERIFY2(process.exitCode() == 0, process.readAll().constData());
  }

  QSet<QString> names() const {
    QSet<QString> found;
    const auto* table = window_->page(QStringLiteral("runs"))->findChild<QTableView*>("runs");
    for (int row = 0; row < table->model()->rowCount(); ++row)
      found.insert(table->model()->index(row, RunsModel::Name).data().toString());
    return found;
  }

  QTemporaryDir folder_;
  QString path_;
  std::map<std::string, storage::RunId> runs_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<MainWindow> window_;
};

HEDDLE_WIDGET_TEST(StoreTroubleTest)
#include "store_trouble_test.moc"
