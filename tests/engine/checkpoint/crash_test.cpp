// However a save ends, a complete checkpoint remains: a process killed at random moments
// (HEDDLE_ALL=1: 200 times), and each write, fsync and rename failing once.
#include <unistd.h>

#include <QProcess>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QtTest>
#include <cerrno>

#include "base/durable_file.h"
#include "tests/engine/checkpoint/small_checkpoint.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

// The call that fails: counted down. A write fails with half of its bytes written, as on a full
// disk.
int calls_until_failure = -1;
bool fails_now() { return calls_until_failure >= 0 && calls_until_failure-- == 0; }

ssize_t failing_write(int descriptor, const void* bytes, size_t count) {
  static bool full = false;
  if (full || fails_now()) {
    full = !full;
    if (full && count > 1) return ::write(descriptor, bytes, count / 2);
    full = false;
    errno = ENOSPC;
    return -1;
  }
  return ::write(descriptor, bytes, count);
}
int failing_fsync(int descriptor) {
  if (!fails_now()) return ::fsync(descriptor);
  errno = EIO;
  return -1;
}
int failing_rename(const char* from, const char* to) {
  if (!fails_now()) return ::rename(from, to);
  errno = EDQUOT;
  return -1;
}

}  // namespace

class CrashTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_killed_save_loses_one_interval_at_most() {
    QTemporaryDir folder;
    const int kills = qEnvironmentVariableIsSet("HEDDLE_ALL") ? 200 : 25;
    qint64 told = 0, mid_save = 0;
    for (int i = 0; i < kills; ++i) {
      QProcess driver;
      driver.start(QString(HEDDLE_BINARY_DIR) + "/checkpoint_driver", {folder.path()});
      QVERIFY(driver.waitForReadyRead(30000));
      QTest::qSleep(static_cast<int>(QRandomGenerator::global()->bounded(30)));
      driver.kill();
      QVERIFY(driver.waitForFinished());
      QVERIFY2(driver.exitStatus() == QProcess::CrashExit, driver.readAllStandardError());
      const QList<QByteArray> lines = driver.readAllStandardOutput().trimmed().split('\n');
      told = lines.last().toLongLong();
      mid_save += !QDir(folder.path()).entryList({"*.partial"}, QDir::Dirs).isEmpty();
      // Every folder with a name loads, the reported step among them.
      for (const std::string& name : checkpoint::checkpoints_in(folder.path().toStdString())) {
        const auto loaded =
            small::load(folder.path().toStdString() + "/" + name, small::recipe_of());
        QVERIFY2(loaded.has_value(), loaded ? "" : loaded.error().message.c_str());
      }
      QVERIFY(small::newest_whole(folder.path().toStdString()) >= told);
    }
    qInfo("%d kills, %lld of them amid a save, %lld saves", kills, mid_save, told);
    QVERIFY(mid_save > 0);
  }

  void each_call_may_fail_data() {
    QTest::addColumn<int>("kind");
    QTest::newRow("write") << 0;
    QTest::newRow("fsync") << 1;
    QTest::newRow("rename") << 2;
  }
  void each_call_may_fail() {
    QFETCH(int, kind);
    const FileCalls usual = file_calls;
    const auto recipe = small::recipe_of({.dp_shard = 2});
    int failures = 0;
    for (int call = 0;; ++call) {
      QTemporaryDir made;
      const std::string folder = made.path().toStdString();
      QVERIFY(small::save(folder, 10, recipe, 1).has_value());
      calls_until_failure = call;
      if (kind == 0) file_calls.write = failing_write;
      if (kind == 1) file_calls.fsync = failing_fsync;
      if (kind == 2) file_calls.rename = failing_rename;
      const auto saved = small::save(folder, 20, recipe, 1);
      file_calls = usual;
      if (calls_until_failure >= 0) {  // there were fewer calls
        QVERIFY(saved.has_value());
        break;
      }
      ++failures;
      QVERIFY2(!saved, "a failure was not told");
      const auto names = checkpoint::checkpoints_in(folder);
      QVERIFY(!names.empty());
      for (const std::string& name : names) {
        const auto loaded = small::load(folder + "/" + name, small::recipe_of());
        QVERIFY2(loaded.has_value(), loaded ? "" : loaded.error().message.c_str());
      }
      // Once the disk can be written again, the next save is as any other.
      QVERIFY(checkpoint::remove_partials(folder).has_value());
      QVERIFY(small::save(folder, 30, recipe, 1).has_value());
      QCOMPARE(small::newest_whole(folder), int64_t{30});
    }
    qInfo("%d calls failed", failures);
    QVERIFY(failures >= 3);
  }
};

HEDDLE_TEST(CrashTest)
#include "crash_test.moc"
