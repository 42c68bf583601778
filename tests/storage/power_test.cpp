// The power goes at any write or sync of the store, or the disk is full from any write on: what was
// acknowledged is there, nothing is there twice, and the store is sound. By default some of the
// moments; with `HEDDLE_ALL=1` 500 losses of power, and every write.
#include <SQLiteCpp/SQLiteCpp.h>

#include <QTemporaryDir>
#include <QTest>
#include <optional>
#include <random>

#include "tests/storage/faulty_disk.h"
#include "tests/storage/store_fixture.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::storage;

namespace {

constexpr size_t kPiece = 7'001;  // ends in the middle of records

bool all() { return qEnvironmentVariableIsSet("HEDDLE_ALL"); }

/// A run in a store of its own, and what its writers were promised.
struct Kept {
  QTemporaryDir folder;
  std::string path = folder.filePath("store.sqlite").toStdString();
  std::string log = log_of(whole_run(1'000));
  RunId run = 0;
  uint64_t acknowledged = 0;  // bytes of the log
  int notes = 0, tried = 0;   // the number in the notes that was promised, and the newest tried

  Kept() {
    const auto writer = must(Writer::open(path));
    run = must(writer->create_run(named("run"))).id;
  }

  bool finished() const { return acknowledged == log.size(); }

  /// Writes until the log is in the store or something fails.
  Result<> write(size_t most_pieces) {
    auto writer = Writer::open(path);
    if (!writer) return fail(writer);
    if (Result<> lease = (*writer)->take_lease(); !lease) return lease;
    for (size_t piece = 0; piece < most_pieces && !finished(); ++piece) {
      const auto at = (*writer)->cursor(run, 0, 0).get();
      if (!at) return fail(at);
      const auto taken = (*writer)->ingest(run, 0, 0, *at, log.substr(*at, kPiece)).get();
      if (!taken) return fail(taken);
      acknowledged = taken->acknowledged;
      if (Result<> noted = (*writer)->set_notes(run, std::to_string(++tried)).get(); !noted)
        return noted;
      notes = tried;
    }
    return {};
  }

  /// The store's error; none: all that was promised is there, once.
  std::string wrong() const {
    Reader reader = must(Reader::open(path));
    const std::vector<LogCursor> logs = must(reader.logs(run));
    const LogCursor cursor = logs.empty() ? LogCursor{} : logs[0];
    if (cursor.offset < acknowledged)
      return "of " + std::to_string(acknowledged) + " bytes that were acknowledged it has " +
             std::to_string(cursor.offset);
    if (cursor.records > 0 &&
        !same(must(reader.digests(run)).at(0), digest_of(log.substr(0, cursor.offset))))
      return "its records are not those of the log";
    const std::string said = must(reader.run(run)).summary.notes;
    const int noted = said.empty() ? 0 : std::stoi(said);
    if (noted != notes && noted != tried) return "the notes are " + said;
    SQLite::Database database(path, SQLite::OPEN_READONLY);
    const std::string integrity = database.execAndGet("PRAGMA integrity_check").getString();
    return integrity == "ok" ? "" : integrity;
  }
};

}  // namespace

class PowerTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Otherwise the tests below could not fail.
  void the_disk_takes_what_was_not_synced() {
    FaultyDisk disk;
    std::mt19937 random;
    int harmed = 0;
    for (int i = 0; i < 20; ++i) {
      QTemporaryDir folder;
      const std::string path = folder.filePath("unsynced.sqlite").toStdString();
      {
        SQLite::Database database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE t (n)");
        for (int row = 0; row < 100; ++row) database.exec("INSERT INTO t VALUES (randomblob(200))");
        disk.cut_at(1);
        QVERIFY_EXCEPTION_THROWN(database.exec("INSERT INTO t VALUES (1)"), SQLite::Exception);
      }
      disk.mend(random);
      try {
        SQLite::Database database(path, SQLite::OPEN_READONLY);
        harmed += database.execAndGet("SELECT count(*) FROM t").getInt() < 100;
      } catch (const SQLite::Exception&) {
        ++harmed;
      }
    }
    QVERIFY(harmed > 10);
  }

  void nothing_acknowledged_is_lost_when_the_power_goes() {
    const int losses = all() ? 500 : 40;
    FaultyDisk disk;
    const auto seed = static_cast<unsigned>(QDateTime::currentMSecsSinceEpoch());
    std::mt19937 random(seed);
    std::optional<Kept> kept;
    int midway = 0;  // losses after something was acknowledged
    for (int lost = 0; lost < losses;) {
      if (!kept || kept->finished()) kept.emplace();
      disk.cut_at(1 + static_cast<int64_t>(random() % 120));
      const uint64_t before = kept->acknowledged;
      const Result<> written = kept->write(SIZE_MAX);
      QVERIFY2(written || disk.is_cut(), written ? "" : written.error().message.c_str());
      lost += disk.is_cut();
      midway += disk.is_cut() && kept->acknowledged > before;
      disk.mend(random);
      const std::string wrong = kept->wrong();
      QVERIFY2(wrong.empty(), qPrintable(QStringLiteral("seed %1, loss %2: %3")
                                             .arg(seed)
                                             .arg(lost)
                                             .arg(QString::fromStdString(wrong))));
    }
    QVERIFY(midway > losses / 4);
    qInfo("%d losses of power, %d of them in mid-work", losses, midway);
  }

  void nothing_is_lost_or_half_done_when_the_disk_is_full() {
    FaultyDisk disk;
    std::mt19937 random;
    const int step = all() ? 1 : 11;
    int full = 0;
    for (bool reached = true; reached; full += reached) {
      Kept kept;
      QVERIFY(kept.write(2));
      disk.full_at(1 + int64_t{full} * step);
      const Result<> written = kept.write(4);
      reached = disk.is_full();
      QVERIFY(written || reached);
      if (!written) {
        const std::string& message = written.error().message;
        QVERIFY2(message.find("disk is full") != std::string::npos, message.c_str());
      }
      disk.mend(random);
      const std::string wrong = kept.wrong();
      QVERIFY2(wrong.empty(), wrong.c_str());
      QVERIFY(kept.write(SIZE_MAX));
      const std::string after = kept.wrong();
      QVERIFY2(kept.finished() && after.empty(), after.c_str());
    }
    QVERIFY(full > 0);
    qInfo("full at %d moments", full);
  }
};

HEDDLE_TEST(PowerTest)
#include "power_test.moc"
