// One SQLite connection with its prepared statements. Used by one thread at a time. Everything
// declared here throws SQLite::Exception; `guarded` at the edge of the store turns that into an
// Error.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <sys/types.h>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/result.h"
#include "base/utf8.h"
#include "storage/open_files.h"

namespace heddle::storage {

struct Blob {
  std::string_view bytes;
};

/// The rows of one query. Ends the statement when destroyed, so that no read transaction stays
/// open.
class Rows {
 public:
  explicit Rows(SQLite::Statement& statement) : statement_(&statement) {}
  Rows(Rows&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}
  Rows& operator=(Rows&&) = delete;
  ~Rows();

  bool next() { return statement_->executeStep(); }
  bool null(int column) const { return statement_->isColumnNull(column); }
  int64_t integer(int column) const { return statement_->getColumn(column).getInt64(); }
  double real(int column) const { return statement_->getColumn(column).getDouble(); }
  std::string text(int column) const { return statement_->getColumn(column).getString(); }
  bool is_text(int column) const { return statement_->getColumn(column).isText(); }
  /// Valid until the next row.
  std::string_view blob(int column) const;
  std::optional<double> optional_real(int column) const;

 private:
  SQLite::Statement* statement_;
};

class Connection {
 public:
  enum class Access { read, write };
  /// Opens an existing store with the settings every connection has.
  Connection(const std::string& path, Access access);

  /// `sql` is a string literal: it is the statement's key. The arguments are its parameters in
  /// order.
  template <typename... Args>
  Rows query(const char* sql, const Args&... args) {
    SQLite::Statement& statement = prepared(sql);
    int index = 0;
    (bind(statement, ++index, args), ...);
    return Rows(statement);
  }

  /// Returns how many rows changed.
  template <typename... Args>
  int execute(const char* sql, const Args&... args) {
    Rows rows = query(sql, args...);
    rows.next();
    return database_.getChanges();
  }

  /// The size of the page cache: most work uses few pages again; a run's recipe touches a page for
  /// each key.
  enum class Cache { narrow, wide };
  void set_cache(Cache cache);

  int64_t last_insert_id() const { return database_.getLastInsertRowid(); }
  SQLite::Database& database() { return database_; }
  const std::string& path() const { return path_; }
  /// Fails where the store's files were removed or replaced since they were opened.
  Result<> still_there() const { return files_.still_there(); }
  /// Whether a store that was opened as one that nobody changes (reading.h) has changed since: what
  /// is read of it then may be of no moment.
  bool is_outdated() const { return immutable_ && !(version_of(path_) == opened_); }

 private:
  Connection(const std::string& path, Access access, const std::string& name);
  SQLite::Statement& prepared(const char* sql);

  template <std::integral T>
  static void bind(SQLite::Statement& statement, int index, T value) {
    statement.bind(index, static_cast<int64_t>(value));
  }
  static void bind(SQLite::Statement& statement, int index, double value) {
    statement.bind(index, value);
  }
  static void bind(SQLite::Statement& statement, int index, std::optional<double> value) {
    if (value) statement.bind(index, *value);
  }
  /// The store's text is UTF-8, whatever a node has sent.
  static void bind(SQLite::Statement& statement, int index, const std::string& text) {
    statement.bind(index, valid_utf8(text));
  }
  static void bind(SQLite::Statement& statement, int index, const char* text) {
    statement.bind(index, text);
  }
  static void bind(SQLite::Statement& statement, int index, Blob blob) {
    statement.bind(index, blob.bytes.data(), static_cast<int>(blob.bytes.size()));
  }

  /// Which file it is, and when it was written last.
  struct Version {
    ino_t inode = 0;
    off_t bytes = 0;
    int64_t written = 0;  // nanoseconds
    bool has_changes_waiting = false;
    bool operator==(const Version&) const = default;
  };
  static Version version_of(const std::string& path);

  std::string path_;
  bool immutable_;
  Version opened_;
  OpenFiles files_;
  SQLite::Database database_;
  std::unordered_map<std::string_view, SQLite::Statement> statements_;
  Cache cache_ = Cache::narrow;
};

/// A consistent view over several queries; ended on destruction.
class ReadTransaction {
 public:
  explicit ReadTransaction(Connection& connection) : connection_(connection) {
    connection_.execute("BEGIN");
  }
  ~ReadTransaction();
  ReadTransaction(const ReadTransaction&) = delete;
  ReadTransaction& operator=(const ReadTransaction&) = delete;

 private:
  Connection& connection_;
};

/// An SQLite error in words for the user of the store at `path`.
Error explain(const std::string& path, const SQLite::Exception& exception);
/// The same of a store that is open: SQLite calls it damaged where its files were exchanged.
Error explain(const Connection& connection, const SQLite::Exception& exception);

/// Calls `body`, which returns a Result; an SQLite exception becomes its error. `store` is its path
/// or the connection.
template <typename Store, typename Body>
auto guarded(const Store& store, Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const SQLite::Exception& exception) {
    return tl::unexpected(explain(store, exception));
  }
}

}  // namespace heddle::storage
