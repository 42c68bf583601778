#include "storage/schema.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/file_lock.h"
#include "base/new_file.h"
#include "base/private_folder.h"
#include "storage/connection.h"
#include "storage/reading.h"
#include "storage/store.h"
#include "storage/trust.h"

namespace heddle::storage {
namespace {

namespace fs = std::filesystem;

struct Stamp {
  int64_t application_id = 0;
  int64_t version = 0;
};

Result<> check(const std::string& path, const Stamp& stamp, size_t newest, bool empty) {
  if (empty) return {};
  if (stamp.application_id != kApplicationId) {
    return fail("{}: not a Heddle store: choose another file with --store", path);
  }
  if (stamp.version > static_cast<int64_t>(newest)) {
    return fail(
        "{}: the store has schema {}, made by a newer Heddle; this one reads up to schema {} "
        "and leaves it unchanged: update Heddle, or choose another file with --store",
        path, stamp.version, newest);
  }
  return {};
}

Stamp stamp_of(SQLite::Database& database) {
  return {.application_id = database.execAndGet("PRAGMA application_id").getInt64(),
          .version = database.execAndGet("PRAGMA user_version").getInt64()};
}

/// A migration copies its store first.
constexpr std::chrono::seconds kSchemaPatience{60};

/// Held while a store is made or migrated, and while its stamp is looked at: nobody sees it half
/// made. One for all stores, in this user's own folder: next to a store a stranger could hold it,
/// or may have forbidden to write. Nothing where that folder cannot be written to.
Result<std::optional<FileLock>> lock_making(const std::string& store_path) {
  const std::string folder = fs::path(default_path()).parent_path();
  std::optional<FileLock> lock;
  if (!make_private_folders(folder)) return lock;
  Result<FileLock> taken = FileLock::take(folder + "/making-a-store.lock", kSchemaPatience);
  if (!taken) return lock;
  if (taken->state() == FileLock::State::of_another)
    return fail(
        "{}: {} has been making or migrating a store for a minute: try again when it has "
        "ended",
        store_path, taken->holder());
  lock = std::move(*taken);
  return lock;
}

/// The stamp as the file's first page has it. A store that is refused stays untouched.
Result<> check_file(const std::string& path, size_t newest) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error || size == 0) return {};
  try {
    SQLite::Database file(immutable_uri(path), SQLite::OPEN_READONLY | SQLite::OPEN_URI);
    return check(path, stamp_of(file), newest, false);
  } catch (const SQLite::Exception& exception) {
    if (exception.getErrorCode() == SQLITE_NOTADB)
      return fail("{}: not a Heddle store: choose another file with --store", path);
    // A process killed in a checkpoint leaves a first page that names more pages than the file has
    // yet; together with the -wal file, which this look leaves out, the store is whole.
    if (exception.getErrorCode() == SQLITE_CORRUPT) return {};
    return fail("{}: cannot open the store: check its permissions ({})", path, exception.what());
  }
}

/// A store is listed before there is anything in it; one that a crash has left empty is made here
/// as well.
Result<> make_trusted(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0) close(fd);
  if (fd < 0 && !is_trusted(path)) return tl::unexpected(untrusted(path));
  std::error_code error;
  if (fs::file_size(path, error) > 0 || error) return {};  // SQLite says what is wrong
  Result<> listed = trust(path);
  if (!listed && fd >= 0) fs::remove(path, error);
  return listed;
}

bool is_empty(SQLite::Database& database) {
  return database.execAndGet("SELECT count(*) FROM sqlite_schema").getInt64() == 0;
}

/// Renamed into place when complete: a backup that is there can be trusted.
Result<> back_up(SQLite::Database& database, const std::string& path, int64_t version) {
  const std::string backup = fmt::format("{}.v{}.backup", path, version);
  Result<NewFile> file = NewFile::create(backup);
  if (!file) return fail(file);
  SQLite::Statement statement(database, "VACUUM INTO ?");
  statement.bind(1, file->part());
  statement.exec();
  return file->take_place();
}

/// The stamp of a store, of which nothing is written; an error where it cannot be read.
Result<Stamp> read_stamp(const std::string& path) {
  if (Result<> checked = check_files(path); !checked) return fail(checked);
  std::error_code error;
  if (!fs::exists(path, error)) return fail("{}: there is no such store", path);
  const auto lock = lock_making(path);
  if (!lock) return fail(lock);
  const size_t newest = migrations().size();
  if (Result<> checked = check_file(path, newest); !checked) return fail(checked);
  return guarded(path, [&]() -> Result<Stamp> {
    SQLite::Database database(reading_uri(path), SQLite::OPEN_READONLY | SQLite::OPEN_URI);
    const Stamp stamp = stamp_of(database);
    if (Result<> checked = check(path, stamp, newest, false); !checked) return fail(checked);
    return stamp;
  });
}

}  // namespace

Result<> check_readable(const std::string& path) {
  const Result<Stamp> stamp = read_stamp(path);
  return stamp ? Result<>{} : fail(stamp);
}

Result<> check_newest(const std::string& path) {
  const Result<Stamp> stamp = read_stamp(path);
  if (!stamp) return fail(stamp);
  const auto newest = static_cast<int64_t>(migrations().size());
  if (stamp->version == newest) return {};
  return fail(
      "{}: the store has schema {}, and this Heddle reads schema {}; it is brought up to date once "
      "{}",
      path, stamp->version, newest,
      is_writable(path) ? "it is trusted: heddle trust --store " + path : "it can be written to");
}

Result<> migrate(const std::string& path, std::span<const Migration> migrations) {
  const size_t newest = migrations.size();
  const auto lock = lock_making(path);
  if (!lock) return fail(lock);
  if (Result<> checked = check_file(path, newest); !checked) return checked;
  if (Result<> made = make_trusted(path); !made) return made;
  return guarded(path, [&]() -> Result<> {
    bool empty = false;
    Stamp stamp;
    {
      SQLite::Database database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, 10'000);
      stamp = stamp_of(database);
      empty = is_empty(database);
      if (Result<> checked = check(path, stamp, newest, empty); !checked) return checked;
      if (!empty && stamp.version == static_cast<int64_t>(newest)) return {};
      if (!empty)
        if (Result<> backed_up = back_up(database, path, stamp.version); !backed_up)
          return backed_up;
      database.exec("PRAGMA synchronous = FULL; PRAGMA journal_mode = WAL");
    }
    Connection connection(path, Connection::Access::write);
    SQLite::Database& database = connection.database();
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    const size_t have = empty ? 0 : static_cast<size_t>(stamp.version);
    for (const Migration& migration : migrations.subspan(have)) {
      database.exec(migration.sql);
      if (migration.fill && !empty) migration.fill(connection);
    }
    database.exec(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                              kApplicationId, newest));
    transaction.commit();
    // So that the file's first page tells the schema even to a reader without the -wal file.
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return {};
  });
}

}  // namespace heddle::storage
