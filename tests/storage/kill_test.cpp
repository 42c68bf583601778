// The process that ingests is killed (SIGKILL) at random moments and started again: every record of
// the log is in the store exactly once, and nothing that was acknowledged is lost. 25 kills by
// default, with `HEDDLE_ALL=1` a thousand.
#include <SQLiteCpp/SQLiteCpp.h>

#include <QtTest>
#include <fstream>
#include <random>

#include "tests/storage/store_fixture.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::storage;

class KillTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void exactly_once_under_sigkill() {
    const int wanted = qEnvironmentVariableIsSet("HEDDLE_ALL") ? 1'000 : 25;
    int kills = 0;
    int midway = 0;  // kills after some of the log was taken in
    while (kills < wanted) {
      take_in_a_log(wanted, kills, midway);
      if (QTest::currentTestFailed()) return;
    }
    QVERIFY2(midway > 0, "the helper was never killed in mid-work");
    qInfo("%d kills, %d of them in mid-work", kills, midway);
  }

 private:
  /// With at most 25 kills on the way, and `wanted` in all.
  void take_in_a_log(int wanted, int& kills, int& midway) {
    const int most = std::min(wanted, kills + 25);
    StoreFixture store;
    const RunId run = store.create();
    store.writer.reset();  // the helper takes the lease
    constexpr int64_t kSteps = 12'000;
    const std::string log = log_of(whole_run(kSteps));
    const std::string file = store.folder.filePath("rank-0.0.hlog").toStdString();
    std::ofstream(file, std::ios::binary) << log;

    uint64_t acknowledged = 0;
    int64_t records = 0;
    for (bool finished = false; !finished;) {
      QProcess helper;
      helper.start(
          HEDDLE_BINARY_DIR "/store_ingest_helper",
          {QString::fromStdString(store.path), QString::number(run), QString::fromStdString(file)});
      QVERIFY(helper.waitForStarted());
      if (kills < most) {
        // Let it get some way at first, then a random moment longer.
        if (random_() % 2) helper.waitForReadyRead(5'000);
        QTest::qSleep(static_cast<int>(random_() % 40));
        helper.kill();
      }
      // False also where waiting for output has seen the end already.
      QVERIFY(helper.waitForFinished(60'000) || helper.state() == QProcess::NotRunning);
      finished = helper.exitStatus() == QProcess::NormalExit;
      kills += !finished;
      QVERIFY2(!finished || helper.exitCode() == 0, helper.readAllStandardError().constData());
      const QList<QByteArray> lines = helper.readAllStandardOutput().split('\n');
      for (const QByteArray& line : lines) {
        acknowledged = std::max<uint64_t>(acknowledged, line.toULongLong());
      }
      const std::vector<LogCursor> logs = must(store.reader.logs(run));
      const LogCursor cursor = logs.empty() ? LogCursor{} : logs[0];
      QVERIFY(cursor.offset >= acknowledged);
      QVERIFY(cursor.records >= records);
      midway += !finished && cursor.records > records;
      records = cursor.records;
      // Rows and cursor agree at every moment: the store holds just the log up to the cursor.
      if (!logs.empty() && records > 0) {
        QVERIFY(same(must(store.reader.digests(run))[0], digest_of(log.substr(0, cursor.offset))));
      }
    }
    QVERIFY(same(must(store.reader.digests(run))[0], digest_of(log)));
    const std::vector<Sample> samples = must(store.reader.samples(run, "loss", 0));
    QCOMPARE(samples.size(), size_t{kSteps});
    for (size_t i = 0; i < samples.size(); ++i) {
      QCOMPARE(samples[i].step, static_cast<int64_t>(i + 1));
    }
    QCOMPARE(must(store.reader.lines_after(run, 0, 100'000)).size(), size_t{kSteps / 10});
    QCOMPARE(must(store.reader.profiled_steps(run)).size(), size_t{kSteps / 10});
    QVERIFY(must(store.reader.gaps(run)).empty());
    SQLite::Database database(store.path, SQLite::OPEN_READONLY);
    QCOMPARE(database.execAndGet("PRAGMA integrity_check").getString(), std::string("ok"));
  }

  std::mt19937 random_{static_cast<unsigned>(QDateTime::currentMSecsSinceEpoch())};
};

HEDDLE_TEST(KillTest)
#include "kill_test.moc"
