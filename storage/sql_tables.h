// The rows of SQL's `steps` and `spans`, which the store keeps packed: virtual tables of SQLite
// that read a page at a time.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/connection.h"
#include "storage/sql.h"

namespace heddle::storage {

/// The rows that a statement asks for; more of them do no harm.
struct SqlBounds {
  std::optional<int64_t> run, rank;
  std::optional<std::string> metric;
  int64_t first_step = 0, last_step = std::numeric_limits<int64_t>::max();
};

class SqlPages {
 public:
  virtual ~SqlPages() = default;
  /// The next rows; none: the end. Throws SQLite::Exception.
  virtual std::vector<SqlRow> next() = 0;
};

struct SqlTable {
  const char* name;
  const char* declaration;  // CREATE TABLE
  int run, rank, step;      // their columns
  int metric;               // its column; -1: it has none
  std::unique_ptr<SqlPages> (*read)(Connection&, const SqlBounds&);
};

extern const SqlTable kSqlSteps;
extern const SqlTable kSqlSpans;

/// Lets statements on the connection read the table by its name. Both outlive the connection's use.
Result<> add_table(Connection& connection, const SqlTable& table);

}  // namespace heddle::storage
