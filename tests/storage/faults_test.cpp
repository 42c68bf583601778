// The store in the wild: readers while it writes, a full disk, another writing process.
#include <SQLiteCpp/SQLiteCpp.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "storage/reading.h"
#include "tests/storage/store_fixture.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::storage;
namespace fs = std::filesystem;

class FaultsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void readers_see_whole_states_while_it_writes() {
    StoreFixture store;
    const RunId run = store.create();
    std::atomic<bool> done = false;
    std::atomic<int> rounds = 0;
    std::atomic<int> torn = 0;
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i) {
      readers.emplace_back([&] {
        Reader reader = must(Reader::open(store.path));
        size_t before = 0;
        while (!done) {
          const std::vector<Sample> samples = must(reader.samples(run, "loss", 0));
          // Each batch of the writer below is 100 steps, and none is ever taken back.
          torn += samples.size() % 100 != 0 || samples.size() < before;
          for (size_t k = 0; k < samples.size(); ++k) {
            torn += samples[k].step != static_cast<int64_t>(k + 1);
          }
          before = samples.size();
          must(reader.runs());
          ++rounds;
        }
      });
    }
    std::string log;
    for (int64_t step = 1; step <= 20'000; ++step) {
      log += must(telemetry::encode(step_record(step), static_cast<uint64_t>(step - 1)));
      if (step % 100 != 0) continue;
      const uint64_t at = must(store.writer->cursor(run, 0, 0));
      must(store.writer->ingest(run, 0, 0, at, log.substr(at)));
    }
    done = true;
    for (std::thread& reader : readers) reader.join();
    QCOMPARE(torn.load(), 0);
    QVERIFY(rounds.load() > 0);
    QCOMPARE(must(store.reader.samples(run, "loss", 0)).size(), size_t{20'000});
  }

  void two_processes_may_write_commands() {
    StoreFixture store;
    const auto second = must(Writer::open(store.path));
    std::vector<std::future<Result<CreatedRun>>> created;
    for (int i = 0; i < 200; ++i) {
      created.push_back((i % 2 ? *second : *store.writer).create_run(named("run")));
    }
    for (auto& future : created) must(std::move(future));
    QCOMPARE(must(store.reader.runs()).size(), size_t{200});
  }

  void a_full_disk_is_an_error_and_what_was_committed_is_safe() {
    if (geteuid() != 0) QSKIP("mounting a small tmpfs needs root");
    QTemporaryDir folder;
    const std::string disk = folder.filePath("disk").toStdString();
    fs::create_directory(disk);
    if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=3m") != 0) {
      QSKIP("no right to mount a tmpfs here");
    }
    const auto unmount = qScopeGuard([&] { umount2(disk.c_str(), MNT_DETACH); });
    const std::string path = disk + "/heddle.sqlite";
    auto writer = must(Writer::open(path));
    must(writer->take_lease());
    const RunId run = must(writer->create_run(named("run"))).id;
    const std::string log = log_of(whole_run(20'000));

    uint64_t acknowledged = 0;
    std::string error;
    while (acknowledged < log.size() && error.empty()) {
      const uint64_t at = must(writer->cursor(run, 0, 0));
      const auto ingested = writer->ingest(run, 0, 0, at, log.substr(at, 50'000)).get();
      if (ingested) acknowledged = ingested->acknowledged;
      if (!ingested) error = ingested.error().message;
    }
    QVERIFY(acknowledged > 0 && acknowledged < log.size());
    QVERIFY2(error.find("disk is full") != std::string::npos, error.c_str());
    QVERIFY2(error.find(path) != std::string::npos, error.c_str());

    // All that was acknowledged is there and sound; with more room it goes on where it stood.
    {
      Reader reader = must(Reader::open(path));
      const LogDigest have = must(reader.digests(run)).at(0);
      QVERIFY(same(have, digest_of(log.substr(0, acknowledged))));
    }
    QCOMPARE(mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT, "size=64m"), 0);
    const uint64_t at = must(writer->cursor(run, 0, 0));
    QCOMPARE(at, acknowledged);
    must(writer->ingest(run, 0, 0, at, log.substr(at)));
    Reader reader = must(Reader::open(path));
    QVERIFY(same(must(reader.digests(run)).at(0), digest_of(log)));
    SQLite::Database database(path, SQLite::OPEN_READONLY);
    QCOMPARE(database.execAndGet("PRAGMA integrity_check").getString(), std::string("ok"));
  }

  void on_a_full_disk_a_store_is_read_and_changes_say_why_not() {
    if (geteuid() != 0) QSKIP("mounting a small tmpfs needs root");
    QTemporaryDir folder;
    const std::string disk = folder.filePath("disk").toStdString();
    fs::create_directory(disk);
    if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=8m") != 0)
      QSKIP("no right to mount a tmpfs here");
    const auto unmount = qScopeGuard([&] { umount2(disk.c_str(), MNT_DETACH); });
    const std::string path = disk + "/heddle.sqlite";
    must(must(Writer::open(path))->create_run(named("run")).get());
    QVERIFY(!fs::exists(path + "-shm"));
    {
      std::ofstream fill(disk + "/fill", std::ios::binary);
      const std::string block(4096, 'x');
      while (fill.write(block.data(), 4096).flush()) {
      }
    }
    QVERIFY(is_disk_full(path));
    QCOMPARE(must(must(Reader::open(path)).runs()).size(), size_t{1});
    const auto opened = Writer::open(path);
    const Result<> noted = opened ? (*opened)->set_notes(1, "no room").get() : fail(opened);
    VERIFY_SAYS(noted, "the disk is full");
    VERIFY_SAYS(noted, path);
  }

  void a_store_in_a_read_only_place_is_read() {
    if (geteuid() != 0) QSKIP("mounting a small tmpfs needs root");
    QTemporaryDir folder;
    const std::string disk = folder.filePath("disk").toStdString();
    fs::create_directory(disk);
    if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=16m") != 0)
      QSKIP("no right to mount a tmpfs here");
    const auto unmount = qScopeGuard([&] { umount2(disk.c_str(), MNT_DETACH); });
    const auto become = [&](unsigned long how) {
      return mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT | how, "size=16m") == 0;
    };
    const std::string path = disk + "/100% of it?#1.sqlite";
    must(must(Writer::open(path))->create_run(named("run")));
    QVERIFY(become(MS_RDONLY));
    QVERIFY(!is_writable(path));
    std::optional<Reader> reader = must(Reader::open(path));
    QVERIFY(must(reader->changed()));
    QCOMPARE(must(reader->runs()).size(), size_t{1});
    QVERIFY(!must(reader->changed()));
    QVERIFY(!must(reader->followed()));
    const auto refused = Writer::open(path);
    QVERIFY(!refused);
    QVERIFY2(refused.error().message.find("cannot be written to") != std::string::npos,
             refused.error().message.c_str());
    QVERIFY(!fs::exists(path + "-wal") && !fs::exists(path + "-shm"));

    // Its owner writes it: the reader, which took it for unchanging, opens it again.
    QVERIFY(become(0));
    {
      const auto writer = must(Writer::open(path));
      must(writer->create_run(named("second")));
      QVERIFY(must(reader->changed()));
      QCOMPARE(must(reader->runs()).size(), size_t{2});
      // A copy without its -shm file has changes that nobody can read there.
      for (const char* end : {"", "-wal"}) fs::copy(path + end, disk + "/copy" + end);
    }
    reader.reset();
    QVERIFY(become(MS_RDONLY));
    const auto waiting = Reader::open(disk + "/copy");
    QVERIFY(!waiting);
    QVERIFY2(waiting.error().message.find("newest changes are in") != std::string::npos,
             waiting.error().message.c_str());
  }

  void another_user_s_store_is_read() {
    if (geteuid() != 0) QSKIP("another user needs root");
    QTemporaryDir folder;
    const std::string path = folder.filePath("theirs.sqlite").toStdString();
    must(must(Writer::open(path))->create_run(named("run")));
    fs::permissions(folder.path().toStdString(), fs::perms(0755));
    fs::permissions(path, fs::perms(0644));
    const pid_t child = fork();
    if (child == 0) {
      if (setuid(65534) != 0) _exit(9);
      auto reader = Reader::open(path);
      if (!reader) fprintf(stderr, "%s\n", reader.error().message.c_str());
      _exit(reader && reader->runs()->size() == 1 && !is_writable(path) ? 0 : 1);
    }
    int status = -1;
    QCOMPARE(waitpid(child, &status, 0), child);
    QCOMPARE(status, 0);
    QVERIFY(!fs::exists(path + "-wal"));
  }

  void files_removed_or_replaced_under_it_are_called_so() {
    for (const bool replaced : {false, true}) {
      StoreFixture store;
      store.create();
      must(store.reader.changed());
      for (const char* end : {"", "-wal", "-shm"}) fs::remove(store.path + end);
      if (replaced) must(Writer::open(store.path));
      const char* word = replaced ? "replaced" : "removed";
      const auto changed = store.reader.changed();
      QVERIFY(!changed);
      QVERIFY2(changed.error().message.find(word) != std::string::npos,
               changed.error().message.c_str());
      const auto created = store.writer->create_run(named("lost")).get();
      QVERIFY(!created);
      QVERIFY2(created.error().message.find(word) != std::string::npos,
               created.error().message.c_str());
    }
  }

  // As it was when another process took itself for the last user: the store is there, its -wal not.
  void a_lost_wal_is_not_called_damage() {
    StoreFixture store;
    store.create();
    fs::remove(store.path + "-wal");
    const auto created = store.writer->create_run(named("lost")).get();
    QVERIFY(!created);
    QVERIFY2(created.error().message.find("removed") != std::string::npos,
             created.error().message.c_str());
  }
};

HEDDLE_TEST(FaultsTest)
#include "faults_test.moc"
