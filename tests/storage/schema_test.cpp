// The store's file: created, migrated with a backup, refused without being touched.
#include "storage/schema.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "storage/store.h"
#include "storage/trust.h"
#include "tests/storage/store_fixture.h"
#include "tests/support/files.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::storage;
using heddle::test::read_text;
namespace fs = std::filesystem;

namespace {

int64_t number(const std::string& path, const char* sql) {
  SQLite::Database database(path, SQLite::OPEN_READONLY);
  return database.execAndGet(sql).getInt64();
}

std::vector<std::string> files_in(const QTemporaryDir& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path().toStdString())) {
    names.push_back(entry.path().filename());
  }
  return names;
}

// A later schema: adds a column to the first.
std::vector<Migration> with_a_second_migration() {
  std::vector<Migration> list(migrations().begin(), migrations().end());
  list.push_back({"ALTER TABLE targets ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey'"});
  return list;
}

/// The newest first page in a -wal file (sqlite.org/fileformat.html, section 4): a header of 32
/// bytes, then frames of 24 bytes, which begin with the page's number, and a page.
std::string first_page_in(const std::string& wal, size_t page_bytes) {
  std::string page;
  for (size_t at = 32; at + 24 + page_bytes <= wal.size(); at += 24 + page_bytes) {
    if (wal.compare(at, 4, std::string("\0\0\0\1", 4)) == 0) page = wal.substr(at + 24, page_bytes);
  }
  return page;
}

/// Whether the kernel knows of a lock of this process on the file.
bool is_locked_by_us(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return false;
  const std::string pid = fmt::format(" {} ", getpid());
  const std::string inode = fmt::format(":{} ", about.st_ino);
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    if (line.find(pid) != std::string::npos && line.find(inode) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

class SchemaTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_new_store_is_stamped_and_strict() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("deep/down/heddle.sqlite").toStdString();
    must(prepare(path));
    QCOMPARE(number(path, "PRAGMA application_id"), int64_t{kApplicationId});
    QCOMPARE(number(path, "PRAGMA user_version"), int64_t{kSchemaVersion});
    QCOMPARE(SQLite::Database(path).execAndGet("PRAGMA journal_mode").getString(),
             std::string("wal"));
    QCOMPARE(number(path,
                    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND "
                    "sql NOT LIKE '%STRICT%' AND name NOT LIKE 'sqlite_%'"),
             int64_t{0});
    must(prepare(path));
  }

  void an_older_store_is_backed_up_and_migrated() {
    StoreFixture store;
    const RunId run = store.create("kept");
    store.writer.reset();
    const auto newer = with_a_second_migration();
    must(migrate(store.path, newer));
    QCOMPARE(number(store.path, "PRAGMA user_version"), int64_t(newer.size()));
    QCOMPARE(number(store.path,
                    "SELECT count(*) FROM pragma_table_info('targets') "
                    "WHERE name = 'colour'"),
             int64_t{1});
    QCOMPARE(number(store.path, "SELECT id FROM runs WHERE name = 'kept'"), int64_t{run});

    const std::string backup = store.path + ".v" + std::to_string(kSchemaVersion) + ".backup";
    QCOMPARE(number(backup, "PRAGMA user_version"), int64_t{kSchemaVersion});
    QCOMPARE(number(backup, "SELECT count(*) FROM runs"), int64_t{1});
  }

  void a_backup_that_was_cut_off_goes_with_the_next() {
    StoreFixture store;
    store.create("kept");
    store.writer.reset();
    const std::string backup = store.path + ".v" + std::to_string(kSchemaVersion) + ".backup";
    std::ofstream(backup + ".0123456789abcdef.part") << "half of it";
    fs::create_symlink(store.path, backup + ".part");  // where it was written once
    must(migrate(store.path, with_a_second_migration()));
    QCOMPARE(number(backup, "PRAGMA user_version"), int64_t{kSchemaVersion});
    QVERIFY(!fs::exists(backup + ".0123456789abcdef.part"));
    QVERIFY(fs::is_symlink(backup + ".part"));
  }

  void a_stranger_s_locks_hold_nobody_up() {
    if (geteuid() != 0) QSKIP("to be another user needs root");
    QTemporaryDir folder;
    const std::string shared = folder.path().toStdString(), path = shared + "/heddle.sqlite";
    fs::permissions(shared, fs::perms(0755));
    int locked[2];
    QCOMPARE(pipe(locked), 0);
    const pid_t stranger = fork();
    if (stranger == 0) {
      const bool is_stranger = setgid(65534) == 0 && setuid(65534) == 0;
      const int fd = open(shared.c_str(), O_RDONLY | O_DIRECTORY);
      const bool holds = is_stranger && fd >= 0 && flock(fd, LOCK_EX) == 0;
      if (write(locked[1], holds ? "+" : "-", 1) == 1) pause();
      _exit(1);
    }
    char said = 0;
    QCOMPARE(read(locked[0], &said, 1), ssize_t{1});
    QCOMPARE(said, '+');
    // He holds the folder; a process that waited for it would wait until the test is killed.
    must(prepare(path));
    must(Reader::open(path));
    kill(stranger, SIGKILL);
    waitpid(stranger, nullptr, 0);
  }

  void a_failed_migration_changes_nothing() {
    StoreFixture store;
    store.create("kept");
    auto broken = with_a_second_migration();
    broken.push_back({"ALTER TABLE no_such_table ADD COLUMN x"});
    QVERIFY(!migrate(store.path, broken));
    QCOMPARE(number(store.path, "PRAGMA user_version"), int64_t{kSchemaVersion});
    QCOMPARE(number(store.path,
                    "SELECT count(*) FROM pragma_table_info('targets') "
                    "WHERE name = 'colour'"),
             int64_t{0});
    QCOMPARE(must(store.reader.runs()).size(), size_t{1});
  }

  void a_newer_store_is_refused_byte_for_byte() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("heddle.sqlite").toStdString();
    must(migrate(path, with_a_second_migration()));
    fs::remove(path + "-wal");
    fs::remove(path + "-shm");
    const std::string before = read_text(path);
    const std::vector<std::string> files = files_in(folder);

    for (const auto& error : {Writer::open(path).error(), Reader::open(path).error()}) {
      QVERIFY2(error.message.find("newer Heddle") != std::string::npos, error.message.c_str());
      QVERIFY2(error.message.find(path) != std::string::npos, error.message.c_str());
    }
    QCOMPARE(read_text(path), before);
    QCOMPARE(files_in(folder), files);
  }

  void other_files_are_refused_unchanged_data() {
    QTemporaryDir folder;
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("text") << QByteArray("[model]\npreset = \"llama3-debug\"\n");
    QTest::newRow("one byte") << QByteArray("x");
    const std::string other = folder.filePath("other.sqlite").toStdString();
    SQLite::Database(other, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        .exec("CREATE TABLE t (x)");
    QTest::newRow("another program's database") << QByteArray::fromStdString(read_text(other));
  }
  void other_files_are_refused_unchanged() {
    QFETCH(QByteArray, bytes);
    QTemporaryDir folder;
    const std::string path = folder.filePath("store").toStdString();
    std::ofstream(path, std::ios::binary) << bytes.toStdString();
    const auto refused = Reader::open(path);
    QVERIFY(!refused);
    QVERIFY2(refused.error().message.find("not a Heddle store") != std::string::npos,
             refused.error().message.c_str());
    QCOMPARE(read_text(path), bytes.toStdString());
    QCOMPARE(files_in(folder).size(), size_t{1});
  }

  /// Opened, it would be waited for, and the lock that others wait for with it.
  void a_pipe_is_no_store() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("heddle.sqlite").toStdString();
    QCOMPARE(mkfifo(path.c_str(), 0600), 0);
    VERIFY_SAYS(Writer::open(path), "heddle.sqlite: cannot be read: it is no regular file");
    VERIFY_SAYS(Reader::open(path), "heddle.sqlite: cannot be read: it is no regular file");
    StoreFixture store;
    const std::string other = folder.filePath("other.sqlite").toStdString();
    fs::copy_file(store.path, other);
    QCOMPARE(mkfifo((other + "-wal").c_str(), 0600), 0);
    VERIFY_SAYS(Reader::open(other), "other.sqlite-wal: cannot be read: it is no regular file");
  }

  void an_unwritable_place_is_an_error() {
    const auto refused = Writer::open("/proc/heddle/heddle.sqlite");
    QVERIFY(!refused);
    QVERIFY(refused.error().message.find("/proc/heddle") != std::string::npos);
  }

  void several_may_create_it_at_once() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("heddle.sqlite").toStdString();
    std::atomic<int> ready = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] { ready += prepare(path).has_value(); });
    }
    for (std::thread& thread : threads) thread.join();
    QCOMPARE(ready.load(), 8);
    QCOMPARE(number(path, "PRAGMA user_version"), int64_t{kSchemaVersion});
  }

  void opening_it_again_keeps_its_locks() {
    // Without them another process could take the -wal file away from a writer that goes on.
    QTemporaryDir folder;
    const std::string path = folder.filePath("heddle.sqlite").toStdString();
    const auto writer = must(Writer::open(path));
    QVERIFY(is_locked_by_us(path));
    { const Reader reader = must(Reader::open(path)); }
    QVERIFY(is_locked_by_us(path));
  }

  void a_store_whose_checkpoint_was_cut_off_is_whole() {
    StoreFixture store;
    const RunId run = store.create();
    store.feed(run, log_of(whole_run(300)));
    // As a kill leaves it: the first page is in the file, the new pages it speaks of only beside
    // it.
    QTemporaryDir folder;
    const std::string path = folder.filePath("heddle.sqlite").toStdString();
    std::string file = read_text(store.path);
    const std::string wal = read_text(store.path + "-wal");
    const auto page_bytes = static_cast<size_t>(number(store.path, "PRAGMA page_size"));
    const std::string page = first_page_in(wal, page_bytes);
    QVERIFY(!page.empty());
    file.replace(0, page_bytes, page);
    std::ofstream(path, std::ios::binary) << file;
    std::ofstream(path + "-wal", std::ios::binary) << wal;
    must(trust(path));
    must(Writer::open(path));
    QVERIFY(
        same(must(must(Reader::open(path)).digests(run))[0], must(store.reader.digests(run))[0]));
  }
  void network_file_systems_are_known() {
    QVERIFY(is_network_filesystem(0x6969));       // NFS
    QVERIFY(is_network_filesystem(0xFE534D42));   // SMB2
    QVERIFY(is_network_filesystem(0x47504653));   // GPFS
    QVERIFY(is_network_filesystem(0x19830326));   // BeeGFS
    QVERIFY(is_network_filesystem(0x65735546));   // FUSE
    QVERIFY(is_network_filesystem(0x01021997));   // 9P
    QVERIFY(!is_network_filesystem(0xEF53));      // ext4
    QVERIFY(!is_network_filesystem(0x01021994));  // tmpfs
  }
};

HEDDLE_TEST(SchemaTest)
#include "schema_test.moc"
