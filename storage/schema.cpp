#include "storage/schema.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
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

constexpr const char* kFirst = R"sql(
-- A run, without what grows long.
CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL CHECK (state IN ('preparing', 'running', 'done', 'failed', 'stopped', 'lost')),
  cause TEXT NOT NULL DEFAULT '',
  target TEXT NOT NULL,
  recipe_name TEXT NOT NULL,
  created REAL NOT NULL,
  started REAL,
  finished REAL,
  hosts TEXT NOT NULL,
  run_dir TEXT NOT NULL,
  tags TEXT NOT NULL DEFAULT '[]',
  notes TEXT NOT NULL DEFAULT '',
  trashed REAL
) STRICT;

CREATE TABLE recipes (
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  toml TEXT NOT NULL
) STRICT;

-- What the list of runs shows, kept at ingestion. loss_flag: 0 finite or none, 1 NaN, 2 +inf, 3 -inf.
CREATE TABLE summaries (
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  steps INTEGER NOT NULL DEFAULT 0,
  loss REAL,
  loss_flag INTEGER NOT NULL DEFAULT 0,
  tokens_per_second_per_rank REAL,
  sparkline BLOB NOT NULL DEFAULT x''
) STRICT;

-- The thinned curves that summaries are computed from (curve.h).
CREATE TABLE curves (
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  loss BLOB NOT NULL DEFAULT x'',
  throughput BLOB NOT NULL DEFAULT x''
) STRICT;

-- How far each log has been read. Step records with a sequence number from `compacted` on are not in
-- chunks yet; `pending` counts them.
CREATE TABLE logs (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  rank INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  offset INTEGER NOT NULL DEFAULT 0,
  next_seq INTEGER NOT NULL DEFAULT 0,
  records INTEGER NOT NULL DEFAULT 0,
  pending INTEGER NOT NULL DEFAULT 0,
  compacted INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (run, rank, epoch)
) STRICT, WITHOUT ROWID;

CREATE TABLE gaps (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  rank INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (run, rank, epoch, offset)
) STRICT, WITHOUT ROWID;

-- Every record of every log, once, as it stands there. checksum: the frame's, as a signed number.
CREATE TABLE records (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  rank INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  type INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  payload BLOB NOT NULL,
  UNIQUE (run, rank, epoch, seq)
) STRICT;
CREATE INDEX records_by_type ON records (run, type);

-- The newest timeline of a step and rank.
CREATE TABLE spans (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  step INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  record INTEGER NOT NULL,
  PRIMARY KEY (run, step, rank)
) STRICT, WITHOUT ROWID;

CREATE TABLE lines (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  rank INTEGER NOT NULL,
  time REAL NOT NULL,
  level INTEGER NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX lines_by_run ON lines (run);

CREATE TABLE series (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  name TEXT NOT NULL,
  UNIQUE (run, name)
) STRICT;

-- Level 0: samples; level n: bins of 16^n samples (chunk.h). first_index: of the chunk's first item
-- among all items of its level.
CREATE TABLE chunks (
  series INTEGER NOT NULL REFERENCES series ON DELETE CASCADE,
  rank INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  level INTEGER NOT NULL,
  first_step INTEGER NOT NULL,
  first_index INTEGER NOT NULL,
  count INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (series, rank, epoch, level, first_step)
) STRICT;

-- recipe.*, environment.* and results.* of all runs. By key first: a column over all runs is one range,
-- one run is a seek a key. flag as in summaries. No reference to runs: its check would scan the table.
CREATE TABLE keys (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE facts (
  key INTEGER NOT NULL,
  run INTEGER NOT NULL,
  value ANY,
  flag INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (key, run)
) STRICT, WITHOUT ROWID;

CREATE TABLE targets (
  name TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  hosts TEXT NOT NULL,
  host_keys TEXT NOT NULL,
  probe TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE requests (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  verb TEXT NOT NULL
) STRICT;
)sql";

constexpr const char* kLineageAndLinks = R"sql(
-- The run whose checkpoint another began with, at which step; its name stays when it is removed.
ALTER TABLE runs ADD COLUMN parent INTEGER REFERENCES runs ON DELETE SET NULL;
ALTER TABLE runs ADD COLUMN parent_name TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN parent_step INTEGER;
ALTER TABLE runs ADD COLUMN lineage TEXT NOT NULL DEFAULT '' CHECK (lineage IN ('', 'resume', 'fork'));

-- The connection to a running run's hosts, as the process that follows it sees it. Unix seconds.
-- lost: since when there is none; next_try: when it is tried again.
CREATE TABLE links (
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  heard REAL NOT NULL,
  lost REAL,
  next_try REAL,
  reason TEXT NOT NULL DEFAULT ''
) STRICT;
)sql";

constexpr std::array kMigrations = {kFirst, kLineageAndLinks};
static_assert(kMigrations.size() == kSchemaVersion);

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
  const size_t newest = kMigrations.size();
  if (Result<> checked = check_file(path, newest); !checked) return fail(checked);
  return guarded(path, [&]() -> Result<Stamp> {
    SQLite::Database database(reading_uri(path), SQLite::OPEN_READONLY | SQLite::OPEN_URI);
    const Stamp stamp = stamp_of(database);
    if (Result<> checked = check(path, stamp, newest, false); !checked) return fail(checked);
    return stamp;
  });
}

}  // namespace

std::span<const char* const> migrations() { return kMigrations; }

Result<> check_readable(const std::string& path) {
  const Result<Stamp> stamp = read_stamp(path);
  return stamp ? Result<>{} : fail(stamp);
}

Result<> check_newest(const std::string& path) {
  const Result<Stamp> stamp = read_stamp(path);
  if (!stamp) return fail(stamp);
  const auto newest = static_cast<int64_t>(kMigrations.size());
  if (stamp->version == newest) return {};
  return fail(
      "{}: the store has schema {}, and this Heddle reads schema {}; it is brought up to date once "
      "{}",
      path, stamp->version, newest,
      is_writable(path) ? "it is trusted: heddle trust --store " + path : "it can be written to");
}

Result<> migrate(const std::string& path, std::span<const char* const> migrations) {
  const size_t newest = migrations.size();
  const auto lock = lock_making(path);
  if (!lock) return fail(lock);
  if (Result<> checked = check_file(path, newest); !checked) return checked;
  if (Result<> made = make_trusted(path); !made) return made;
  return guarded(path, [&]() -> Result<> {
    SQLite::Database database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, 10'000);
    const Stamp stamp = stamp_of(database);
    const bool empty = is_empty(database);
    if (Result<> checked = check(path, stamp, newest, empty); !checked) return checked;
    if (!empty && stamp.version == static_cast<int64_t>(newest)) return {};
    if (!empty)
      if (Result<> backed_up = back_up(database, path, stamp.version); !backed_up) return backed_up;

    database.exec("PRAGMA synchronous = FULL; PRAGMA journal_mode = WAL");
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    const size_t have = empty ? 0 : static_cast<size_t>(stamp.version);
    for (size_t i = have; i < newest; ++i) database.exec(migrations[i]);
    database.exec(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                              kApplicationId, newest));
    transaction.commit();
    // So that the file's first page tells the schema even to a reader without the -wal file.
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return {};
  });
}

}  // namespace heddle::storage
