#include "storage/sql_tables.h"

#include <sqlite3.h>

#include <algorithm>
#include <new>

namespace heddle::storage {
namespace {

struct Module {
  Connection& connection;
  const SqlTable& table;
};

struct OpenTable : sqlite3_vtab {
  Module* module = nullptr;
};

struct Cursor : sqlite3_vtab_cursor {
  Module* module = nullptr;
  std::unique_ptr<SqlPages> pages;
  std::vector<SqlRow> page;
  size_t at = 0;
  int64_t row = 0;
};

/// SQLite is C: nothing may be thrown through it.
template <typename Work>
int shielded(sqlite3_vtab* table, Work work) {
  try {
    work();
    return SQLITE_OK;
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  } catch (const std::exception& error) {
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%s", error.what());
    return SQLITE_ERROR;
  }
}

int connect(sqlite3* database, void* data, int, const char* const*, sqlite3_vtab** made, char**) {
  auto* module = static_cast<Module*>(data);
  const int declared = sqlite3_declare_vtab(database, module->table.declaration);
  if (declared != SQLITE_OK) return declared;
  sqlite3_vtab_config(database, SQLITE_VTAB_INNOCUOUS);  // it only reads this store
  auto* table = new OpenTable;
  *static_cast<sqlite3_vtab*>(table) = {};
  table->module = module;
  *made = table;
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  delete static_cast<OpenTable*>(table);
  return SQLITE_OK;
}

bool is_of_steps(int op) {
  return op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GE ||
         op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_LE ||
         op == SQLITE_INDEX_CONSTRAINT_LT;
}

/// Takes each bound that there is; idxStr has two characters for each, its column and its operator.
/// SQLite checks them again.
int plan(sqlite3_vtab* table, sqlite3_index_info* info) {
  const SqlTable& of = static_cast<OpenTable*>(table)->module->table;
  std::string bounds;
  info->estimatedCost = 1e9;
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& constraint = info->aConstraint[i];
    const bool is_key = constraint.iColumn == of.run || constraint.iColumn == of.rank ||
                        (of.metric >= 0 && constraint.iColumn == of.metric);
    const bool wanted = (is_key && constraint.op == SQLITE_INDEX_CONSTRAINT_EQ) ||
                        (constraint.iColumn == of.step && is_of_steps(constraint.op));
    if (!constraint.usable || !wanted) continue;
    bounds += static_cast<char>('a' + constraint.iColumn);
    bounds += static_cast<char>(constraint.op);
    info->aConstraintUsage[i].argvIndex = static_cast<int>(bounds.size() / 2);
    info->estimatedCost /= 30;
  }
  info->idxStr = sqlite3_mprintf("%s", bounds.c_str());
  info->needToFreeIdxStr = 1;
  return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

void take_bound(SqlBounds& bounds, const SqlTable& of, int column, int op, sqlite3_value* value) {
  if (column == of.metric) {
    if (const auto* text = sqlite3_value_text(value))
      bounds.metric = reinterpret_cast<const char*>(text);
    return;
  }
  if (sqlite3_value_type(value) != SQLITE_INTEGER) return;
  const int64_t number = sqlite3_value_int64(value);
  if (column == of.run) bounds.run = number;
  if (column == of.rank) bounds.rank = number;
  if (column != of.step) return;
  const bool is_least = op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_GT;
  const bool is_most = op == SQLITE_INDEX_CONSTRAINT_LE || op == SQLITE_INDEX_CONSTRAINT_LT;
  if (!is_most) bounds.first_step = std::max(bounds.first_step, number);
  if (!is_least) bounds.last_step = std::min(bounds.last_step, number);
}

int open_cursor(sqlite3_vtab* table, sqlite3_vtab_cursor** made) {
  auto* cursor = new Cursor;
  cursor->module = static_cast<OpenTable*>(table)->module;
  *made = cursor;
  return SQLITE_OK;
}

int close_cursor(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

void next_page(Cursor& cursor) {
  cursor.page = cursor.pages->next();
  cursor.at = 0;
}

int start(sqlite3_vtab_cursor* raw, int, const char* bounds_text, int count,
          sqlite3_value** values) {
  auto& cursor = *static_cast<Cursor*>(raw);
  return shielded(raw->pVtab, [&] {
    SqlBounds bounds;
    for (int i = 0; i < count; ++i)
      take_bound(bounds, cursor.module->table, bounds_text[2 * i] - 'a',
                 static_cast<unsigned char>(bounds_text[2 * i + 1]), values[i]);
    cursor.pages = cursor.module->table.read(cursor.module->connection, bounds);
    cursor.row = 0;
    next_page(cursor);
  });
}

int advance(sqlite3_vtab_cursor* raw) {
  auto& cursor = *static_cast<Cursor*>(raw);
  ++cursor.row;
  if (++cursor.at < cursor.page.size()) return SQLITE_OK;
  return shielded(raw->pVtab, [&] { next_page(cursor); });
}

int is_at_end(sqlite3_vtab_cursor* raw) { return static_cast<Cursor*>(raw)->page.empty() ? 1 : 0; }

int column_of(sqlite3_vtab_cursor* raw, sqlite3_context* context, int column) {
  const auto& cursor = *static_cast<Cursor*>(raw);
  const SqlValue& value = cursor.page[cursor.at][static_cast<size_t>(column)];
  if (const auto* whole = std::get_if<int64_t>(&value)) sqlite3_result_int64(context, *whole);
  if (const auto* number = std::get_if<double>(&value)) sqlite3_result_double(context, *number);
  if (const auto* text = std::get_if<std::string>(&value))
    sqlite3_result_text(context, text->data(), static_cast<int>(text->size()), SQLITE_TRANSIENT);
  return SQLITE_OK;
}

int row_of(sqlite3_vtab_cursor* raw, sqlite3_int64* row) {
  *row = static_cast<Cursor*>(raw)->row;
  return SQLITE_OK;
}

const sqlite3_module kModule = [] {
  sqlite3_module module{};
  module.xConnect = connect;
  module.xBestIndex = plan;
  module.xDisconnect = disconnect;
  module.xOpen = open_cursor;
  module.xClose = close_cursor;
  module.xFilter = start;
  module.xNext = advance;
  module.xEof = is_at_end;
  module.xColumn = column_of;
  module.xRowid = row_of;
  return module;
}();

}  // namespace

Result<> add_table(Connection& connection, const SqlTable& table) {
  auto* module = new Module{connection, table};
  const int added =
      sqlite3_create_module_v2(connection.database().getHandle(), table.name, &kModule, module,
                               [](void* data) { delete static_cast<Module*>(data); });
  if (added != SQLITE_OK) return fail("SQL: {} cannot be read here", table.name);
  return {};
}

}  // namespace heddle::storage
