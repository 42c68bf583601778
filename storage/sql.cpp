#include "storage/sql.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <memory>

#include "storage/connection.h"
#include "storage/sql_tables.h"
#include "storage/state_sql.h"
#include "storage/store.h"

namespace heddle::storage {
namespace {

/// The views of docs/sql.md. They hide the store's tables of the same names, which may change.
constexpr const char* kViews = R"sql(
CREATE TEMP VIEW runs AS
  SELECT id, name, )sql" HEDDLE_STATE R"sql( AS state, )sql" HEDDLE_CAUSE R"sql( AS cause, target,
    recipe_name AS recipe, created, started, finished, finished - started AS seconds, steps,
    CASE loss_flag WHEN 0 THEN loss WHEN 2 THEN 9e999 WHEN 3 THEN -9e999 END AS loss,
    tokens_per_second_per_rank, group_name, tags, notes, color, starred, archived, trashed,
    nullif(lineage, '') AS lineage, parent, nullif(parent_name, '') AS parent_name, parent_step
  FROM main.runs JOIN main.summaries ON summaries.run = runs.id;
CREATE TEMP VIEW facts AS
  SELECT facts.run AS run, keys.name AS key,
    CASE flag WHEN 0 THEN value WHEN 2 THEN 9e999 WHEN 3 THEN -9e999 END AS value
  FROM main.facts JOIN main.keys ON keys.id = facts.key;
CREATE TEMP VIEW metrics AS
  SELECT metric_summaries.run AS run, metrics.name AS metric, count, nonfinite,
    CASE last_flag WHEN 0 THEN last WHEN 2 THEN 9e999 WHEN 3 THEN -9e999 END AS last, last_step,
    min, min_step, max, max_step, mean
  FROM main.metric_summaries JOIN main.metrics ON metrics.id = metric_summaries.metric;
CREATE TEMP VIEW steps AS SELECT run, rank, metric, step, value FROM heddle_steps;
CREATE TEMP VIEW spans AS
  SELECT run, step, rank, name, module, phase, stream, start_us, duration_us FROM heddle_spans;
)sql";

constexpr int kLookEvery = 20'000;  // SQLite's instructions between two looks at is_stopped

/// Reading, and nothing else.
int authorize(void*, int action, const char*, const char* function, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return std::string_view(function) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
    default:
      return SQLITE_DENY;
  }
}

int look(void* output) { return static_cast<const SqlOutput*>(output)->is_stopped() ? 1 : 0; }

Error error_of(sqlite3* database, const std::string& statement) {
  const int code = sqlite3_extended_errcode(database) & 0xff;
  const std::string message = sqlite3_errmsg(database);
  const bool is_refused = message.starts_with("cannot modify") || message.starts_with("not auth");
  if (is_refused || code == SQLITE_AUTH || code == SQLITE_READONLY)
    return {"SQL: only a SELECT can be run: nothing of the store is changed"};
  if (code == SQLITE_INTERRUPT) return {"SQL: it was stopped"};
  const int at = sqlite3_error_offset(database);
  if (at < 0 || static_cast<size_t>(at) > statement.size())
    return {fmt::format("SQL: {}", message)};
  return {fmt::format("SQL, character {}: {}; docs/sql.md lists the views and their columns",
                      at + 1, message)};
}

bool is_blank(const char* text) {
  return std::string_view(text).find_first_not_of(" \t\r\n;") == std::string_view::npos;
}

SqlValue value_at(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_NULL:
      return std::monostate();
    default:
      break;
  }
  const bool is_text = sqlite3_column_type(statement, column) == SQLITE_TEXT;
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement, column));
  const std::string_view value(bytes ? bytes : "", bytes ? size : 0);
  if (is_text) return valid_utf8(std::string(value));
  std::string digits;
  for (const char c : value) digits += fmt::format("{:02x}", static_cast<uint8_t>(c));
  return digits;
}

using Prepared = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;

Result<> put_rows(sqlite3* database, sqlite3_stmt* prepared, const std::string& statement,
                  const SqlOutput& output) {
  const int count = sqlite3_column_count(prepared);
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.emplace_back(sqlite3_column_name(prepared, i));
  output.columns(names);
  for (;;) {
    const int done = sqlite3_step(prepared);
    if (done == SQLITE_DONE) return {};
    if (done != SQLITE_ROW) return tl::unexpected(error_of(database, statement));
    SqlRow row;
    for (int i = 0; i < count; ++i) row.push_back(value_at(prepared, i));
    output.row(std::move(row));
  }
}

}  // namespace

Result<> run_sql(const std::string& store, const std::string& statement, const SqlOutput& output) {
  if (Result<> ready = prepare_to_read(store); !ready) return ready;
  return guarded(store, [&]() -> Result<> {
    Connection connection(store, Connection::Access::read);
    for (const SqlTable* table : {&kSqlSteps, &kSqlSpans})
      if (Result<> added = add_table(connection, *table); !added) return added;
    connection.database().exec(kViews);
    // SQLite makes a virtual table when it first reads it, and asks for more than reading then.
    for (const char* table : {"steps", "spans", "json_each('[]')", "json_tree('[]')"})
      connection.database().exec(fmt::format("SELECT * FROM {} LIMIT 0", table));
    connection.database().exec("PRAGMA query_only = ON");
    sqlite3* database = connection.database().getHandle();
    // A word in double quotes is a name, and never a text by mistake.
    sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
    sqlite3_set_authorizer(database, authorize, nullptr);
    sqlite3_progress_handler(database, kLookEvery, look, const_cast<SqlOutput*>(&output));
    sqlite3_stmt* made = nullptr;
    const char* rest = nullptr;
    const int read = sqlite3_prepare_v2(database, statement.c_str(),
                                        static_cast<int>(statement.size()) + 1, &made, &rest);
    const Prepared prepared(made, sqlite3_finalize);
    if (read != SQLITE_OK) return tl::unexpected(error_of(database, statement));
    if (!made) return fail("SQL: there is no statement; valid: one SELECT");
    if (!is_blank(rest)) return fail("SQL: there are several statements; valid: one SELECT");
    return put_rows(database, made, statement, output);
  });
}

}  // namespace heddle::storage
