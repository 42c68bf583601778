#include "storage/connection.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include "storage/reading.h"

namespace heddle::storage {
namespace {

constexpr int kBusyMilliseconds = 10'000;
constexpr int kLargestValue = 65 << 20;  // bytes; a record once had up to 64 MiB

// A cache grows until it is full and never shrinks. 8 MiB hold the pages that ingestion uses again.
// A new run touches a page of facts for each of its keys; 64 MiB hold a few thousand of them, which
// a smaller cache would write and read again and again.
constexpr const char *kNarrowCache = "PRAGMA cache_size = -8192",
                     *kWideCache = "PRAGMA cache_size = -65536";

/// The file may be anybody's: nothing in its schema is run, no value is larger than ours can be.
void harden(sqlite3* database) {
  for (const auto& [option, value] :
       {std::pair(SQLITE_DBCONFIG_DEFENSIVE, 1), std::pair(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
        std::pair(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0), std::pair(SQLITE_DBCONFIG_ENABLE_VIEW, 0),
        std::pair(SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0)})
    sqlite3_db_config(database, option, value, nullptr);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kLargestValue);
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_exec(database, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", nullptr, nullptr,
               nullptr);
}

}  // namespace

Rows::~Rows() {
  if (statement_) statement_->tryReset();
}

std::string_view Rows::blob(int column) const {
  const SQLite::Column value = statement_->getColumn(column);
  return {static_cast<const char*>(value.getBlob()), static_cast<size_t>(value.getBytes())};
}

std::optional<double> Rows::optional_real(int column) const {
  if (null(column)) return std::nullopt;
  return real(column);
}

Connection::Version Connection::version_of(const std::string& path) {
  struct stat about {
  }, waiting{};
  if (stat(path.c_str(), &about) != 0) return {};
  return {about.st_ino, about.st_size,
          about.st_mtim.tv_sec * int64_t{1'000'000'000} + about.st_mtim.tv_nsec,
          stat((path + "-wal").c_str(), &waiting) == 0 && waiting.st_size > 0};
}

Connection::Connection(const std::string& path, Access access)
    : Connection(path, access, access == Access::read ? reading_uri(path) : path) {}

Connection::Connection(const std::string& path, Access access, const std::string& name)
    : path_(path),
      immutable_(is_immutable(name)),
      opened_(version_of(path)),
      files_(path),
      database_(name,
                access == Access::read ? SQLite::OPEN_READONLY | SQLite::OPEN_URI
                                       : SQLite::OPEN_READWRITE,
                kBusyMilliseconds) {
  harden(database_.getHandle());
  if (access == Access::write) {
    // FULL: bytes acknowledged to a node, which may then delete them, must outlive a power loss.
    // temp_store: keeps savepoint journals in memory; else each job writes its pages to a file too.
    database_.exec(
        "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY");
    database_.exec(kNarrowCache);
  }
  // SQLite opens the -wal and -shm files with the first look at a page.
  database_.execAndGet("SELECT count(*) FROM sqlite_schema");
  files_.remember();
}

void Connection::set_cache(Cache cache) {
  if (std::exchange(cache_, cache) == cache) return;
  database_.exec(cache == Cache::wide ? kWideCache : kNarrowCache);
}

SQLite::Statement& Connection::prepared(const char* sql) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) {
    found = statements_.emplace(sql, SQLite::Statement(database_, sql)).first;
  }
  found->second.tryReset();
  found->second.clearBindings();
  return found->second;
}

ReadTransaction::~ReadTransaction() {
  try {
    connection_.execute("COMMIT");
  } catch (const SQLite::Exception&) {  // an I/O error has ended it already
  }
}

Error explain(const std::string& path, const SQLite::Exception& exception) {
  // Files that SQLite cannot make next to a store are errors of I/O to it.
  const int code = exception.getErrorCode();
  switch (code == SQLITE_IOERR && is_disk_full(path) ? SQLITE_FULL : code) {
    case SQLITE_FULL:
      return {
          fmt::format("{}: the disk is full; what was committed is safe: free some space and try "
                      "again",
                      path)};
    case SQLITE_BUSY:
      return {
          fmt::format("{}: another process has been writing to the store for {} seconds; try again",
                      path, kBusyMilliseconds / 1000)};
    case SQLITE_NOTADB:
      return {fmt::format("{}: not a Heddle store: choose another file with --store", path)};
    case SQLITE_CORRUPT:
      return {
          fmt::format("{}: the store is damaged ({}); restore a backup of it, or see what "
                      "`sqlite3 FILE .recover` saves",
                      path, exception.what())};
    case SQLITE_READONLY:
      return {
          fmt::format("{}: the store is read-only: check its and its folder's permissions", path)};
    case SQLITE_CANTOPEN:
      if (!is_writable(path))
        return {fmt::format(
            "{0}: the newest changes are in {0}-wal, which can be read only where files can be "
            "made next to it: copy both into a folder of yours, and look at the copy",
            path)};
      return {
          fmt::format("{}: cannot open the store: check its and its folder's permissions", path)};
    default:
      return {fmt::format("{}: {}", path, exception.what())};
  }
}

Error explain(const Connection& connection, const SQLite::Exception& exception) {
  if (const Result<> there = connection.still_there(); !there) return there.error();
  return explain(connection.path(), exception);
}

}  // namespace heddle::storage
