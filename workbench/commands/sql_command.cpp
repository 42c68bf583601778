// heddle sql STATEMENT [--json] [--csv]
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/say.h"
#include "storage/sql.h"
#include "workbench/commands/command.h"
#include "workbench/commands/format.h"
#include "workbench/commands/interrupts.h"

namespace heddle::workbench {
namespace {

using storage::SqlRow;
using storage::SqlValue;

/// For other programs all digits, for people nine.
std::string text_of(const SqlValue& value, bool in_full, const char* none) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* whole = std::get_if<int64_t>(&value)) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&value))
    return in_full ? fmt::format("{}", *number) : fmt::format("{:.9g}", *number);
  return none;
}

nlohmann::json json_of(const SqlValue& value) {
  if (const auto* number = std::get_if<double>(&value); number && !std::isfinite(*number))
    return fmt::format("{}", *number);  // JSON has no number for it
  return std::visit(
      [](const auto& one) -> nlohmann::json {
        if constexpr (std::is_same_v<std::decay_t<decltype(one)>, std::monostate>)
          return nullptr;
        else
          return one;
      },
      value);
}

Result<> print_table(const std::string& store, const std::string& statement,
                     storage::SqlOutput output) {
  std::vector<std::vector<std::string>> rows(1);
  std::vector<bool> is_text;
  output.columns = [&](const std::vector<std::string>& names) {
    rows[0] = names;
    is_text.resize(names.size());
  };
  output.row = [&](const SqlRow& row) {
    std::vector<std::string>& cells = rows.emplace_back();
    for (size_t i = 0; i < row.size(); ++i) {
      if (std::holds_alternative<std::string>(row[i])) is_text[i] = true;
      cells.push_back(text_of(row[i], false, kNone));
    }
  };
  if (Result<> done = storage::run_sql(store, statement, output); !done) return done;
  std::vector<size_t> right;
  for (size_t i = 0; i < is_text.size(); ++i)
    if (!is_text[i]) right.push_back(i);
  say("{}", table(std::move(rows), right));
  return {};
}

Result<> print_csv(const std::string& store, const std::string& statement,
                   storage::SqlOutput output) {
  const auto line = [](const auto& cells, auto text) {
    std::string out;
    for (const auto& cell : cells) out += csv_cell(text(cell)) + ',';
    if (!out.empty()) out.back() = '\n';
    say("{}", out);
  };
  output.columns = [&](const std::vector<std::string>& names) {
    line(names, [](const std::string& name) { return name; });
  };
  output.row = [&](const SqlRow& row) {
    line(row, [](const SqlValue& value) { return text_of(value, true, ""); });
  };
  return storage::run_sql(store, statement, output);
}

Result<> print_json(const std::string& store, const std::string& statement,
                    storage::SqlOutput output) {
  std::vector<std::string> columns;
  const char* separator = "[\n  ";
  output.columns = [&](const std::vector<std::string>& names) { columns = names; };
  output.row = [&](const SqlRow& row) {
    nlohmann::json object = nlohmann::json::object();
    for (size_t i = 0; i < row.size(); ++i) object[columns[i]] = json_of(row[i]);
    say("{}{}", std::exchange(separator, ",\n  "), json_text(object));
  };
  if (Result<> done = storage::run_sql(store, statement, output); !done) return done;
  say("{}\n", std::string_view(separator) == ",\n  " ? "\n]" : "[]");
  return {};
}

}  // namespace

int sql_command(const Context& context, const SqlOptions& options) {
  Interrupts interrupts;
  bool stopped = false;
  storage::SqlOutput output;
  output.is_stopped = [&] { return stopped = stopped || interrupts.take(); };
  const auto print = options.json ? print_json : options.csv ? print_csv : print_table;
  const Result<> printed = print(context.store, options.statement, std::move(output));
  if (printed) return kExitDone;
  return report(printed.error(), stopped ? kExitStopped : kExitFailed);
}

}  // namespace heddle::workbench
