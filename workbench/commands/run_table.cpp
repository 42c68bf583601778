#include "workbench/commands/run_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "storage/difference.h"
#include "storage/json.h"
#include "storage/value_text.h"
#include "workbench/commands/format.h"

namespace heddle::workbench {
namespace {

using storage::Value;
using Runs = std::vector<storage::RunSummary>;

/// The texts between commas; those in brackets are none.
std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : list) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else if (c != ' ' || !parts.back().empty())
      parts.back() += c;
  }
  for (std::string& part : parts)
    while (part.ends_with(' ')) part.pop_back();
  std::erase(parts, "");
  return parts;
}

Result<RunColumn> read_column(storage::Reader& reader, const RunKeys& keys, const std::string& name,
                              const Runs& runs) {
  RunColumn column{key_called(name), {}};
  if (!is_of_summary(column.key)) {
    auto values = read_values(reader, keys, column.key);
    if (!values) return fail("{}", values.error().message);
    column.values = std::move(*values);
    return column;
  }
  const double now = unix_now();
  for (const storage::RunSummary& run : runs)
    if (auto value = value_of(run, column.key, now)) column.values[run.id] = std::move(*value);
  return column;
}

std::string number_text(const std::string& key, double number) {
  switch (kind_of(key)) {
    case KeyKind::count:
      return count_text(number);
    case KeyKind::loss:
      return loss_text(number);
    case KeyKind::rate:
      return rate_text(number);
    case KeyKind::bytes:
      return bytes_text(number);
    case KeyKind::seconds:
      return seconds_text(number);
    case KeyKind::share:
      return share_text(number);
    case KeyKind::date:
      return time_text(number);
    default:
      return storage::value_text(key, number);
  }
}

std::string cell(const std::string& key, const std::optional<Value>& value) {
  if (!value) return kNone;
  if (const auto* number = std::get_if<double>(&*value)) return number_text(key, *number);
  std::string text = storage::value_text(key, *value);
  for (size_t at; (at = text.find('\n')) != std::string::npos;) text.replace(at, 1, ", ");
  return text.empty() ? kNone : text;
}

/// A column of numbers lines up at its right.
bool is_of_numbers(const RunColumn& column) {
  return std::ranges::all_of(column.values, [](const auto& of) {
    return std::holds_alternative<double>(of.second) || storage::number_of(of.second);
  });
}

/// Missing values last, numbers before words.
int order(const std::optional<Value>& a, const std::optional<Value>& b, bool descending) {
  if (!a || !b) return a ? -1 : b ? 1 : 0;
  const auto left = storage::number_of(*a), right = storage::number_of(*b);
  if (left.has_value() != right.has_value()) return left ? -1 : 1;
  if (left && (std::isnan(*left) || std::isnan(*right)))
    return std::isnan(*left) - std::isnan(*right);
  const bool less = left ? *left < *right : *a < *b;
  const bool more = left ? *right < *left : *b < *a;
  const int result = less ? -1 : more ? 1 : 0;
  return descending ? -result : result;
}

struct Spread {
  int count = 0;
  double mean = 0, min = 0, max = 0;
};

std::optional<Spread> spread_of(const RunGroup& group, const RunColumn& column) {
  Spread spread;
  for (const storage::RunSummary& run : group.runs) {
    const auto value = column.of(run.id);
    const auto number = value ? storage::number_of(*value) : std::nullopt;
    if (!number || !std::isfinite(*number)) continue;
    if (spread.count++ == 0) spread.min = spread.max = *number;
    spread.min = std::min(spread.min, *number);
    spread.max = std::max(spread.max, *number);
    spread.mean += (*number - spread.mean) / spread.count;
  }
  return spread.count > 0 ? std::optional(spread) : std::nullopt;
}

std::string spread_text(const std::string& key, const std::optional<Spread>& spread) {
  if (!spread) return kNone;
  if (spread->min == spread->max) return number_text(key, spread->mean);
  return fmt::format("{} ({} … {})", number_text(key, spread->mean), number_text(key, spread->min),
                     number_text(key, spread->max));
}

nlohmann::json json_of(const std::optional<Value>& value) {
  if (!value) return nullptr;
  const auto* number = std::get_if<double>(&*value);
  if (!number) return std::get<std::string>(*value);
  if (!std::isfinite(*number)) return fmt::format("{}", *number);
  return *number;
}

}  // namespace

std::optional<Value> RunColumn::of(storage::RunId run) const {
  const auto found = values.find(run);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

Result<std::vector<RunColumn>> read_columns(storage::Reader& reader, const std::string& list,
                                            const Runs& runs) {
  const auto keys = read_keys(reader);
  if (!keys) return fail(keys);
  std::vector<RunColumn> columns;
  for (const std::string& name : parts_of(list)) {
    auto column = read_column(reader, *keys, name, runs);
    if (!column) return fail(column);
    columns.push_back(std::move(*column));
  }
  return columns;
}

Result<> sort_runs(storage::Reader& reader, const std::string& keys, Runs& runs) {
  const auto known = read_keys(reader);
  if (!known) return fail(known);
  std::vector<std::string> names = parts_of(keys);
  std::ranges::reverse(names);  // each sort keeps the order of those before
  for (const std::string& name : names) {
    const bool descending = name.starts_with('-');
    const auto column = read_column(reader, *known, name.substr(descending ? 1 : 0), runs);
    if (!column) return fail(column);
    std::ranges::stable_sort(runs, [&](const auto& a, const auto& b) {
      return order(column->of(a.id), column->of(b.id), descending) < 0;
    });
  }
  return {};
}

std::string columns_text(const Runs& runs, const std::vector<RunColumn>& columns) {
  std::vector<std::vector<std::string>> rows{{"ID", "NAME"}};
  std::vector<size_t> right = {0};
  for (const RunColumn& column : columns) {
    if (is_of_numbers(column)) right.push_back(rows[0].size());
    rows[0].push_back(label_of(column.key));
  }
  for (const storage::RunSummary& run : runs) {
    std::vector<std::string>& row = rows.emplace_back();
    row = {std::to_string(run.id), run.name};
    for (const RunColumn& column : columns) row.push_back(cell(column.key, column.of(run.id)));
  }
  return table(std::move(rows), right, {.names = {1}, .columns = terminal_columns()});
}

nlohmann::json columns_json(const Runs& runs, const std::vector<RunColumn>& columns) {
  nlohmann::json list = storage::runs_json(runs);
  if (columns.empty()) return list;
  for (size_t i = 0; i < runs.size(); ++i) {
    nlohmann::json& values = list[i]["columns"] = nlohmann::json::object();
    for (const RunColumn& column : columns) values[column.key] = json_of(column.of(runs[i].id));
  }
  return list;
}

std::string columns_csv(const Runs& runs, const std::vector<RunColumn>& columns) {
  constexpr std::string_view kAlways[] = {"name",    "state", "target", "recipe",
                                          "created", "steps", "loss"};
  std::string text = "id";
  for (const std::string_view key : kAlways) text += fmt::format(",{}", key);
  for (const RunColumn& column : columns) text += ',' + csv_cell(column.key);
  text += '\n';
  const auto raw = [](const std::optional<Value>& value) -> std::string {
    if (!value) return {};
    const auto* number = std::get_if<double>(&*value);
    return number ? fmt::format("{}", *number) : storage::value_text({}, *value);
  };
  const double now = unix_now();
  for (const storage::RunSummary& run : runs) {
    text += std::to_string(run.id);
    for (const std::string_view key : kAlways)
      text += ',' + csv_cell(raw(value_of(run, std::string(key), now)));
    for (const RunColumn& column : columns) text += ',' + csv_cell(raw(column.of(run.id)));
    text += '\n';
  }
  return text;
}

std::vector<RunGroup> groups_of(const Runs& runs, std::span<const RunColumn> keys) {
  std::vector<RunGroup> groups;
  if (keys.empty()) return groups;
  std::map<std::string, size_t> places;
  const RunColumn& by = keys.front();
  for (const storage::RunSummary& run : runs) {
    const auto value = by.of(run.id);
    const auto [place, is_new] = places.try_emplace(cell(by.key, value), groups.size());
    if (is_new) groups.push_back({value, {}, {}});
    groups[place->second].runs.push_back(run);
  }
  for (RunGroup& group : groups) group.groups = groups_of(group.runs, keys.subspan(1));
  return groups;
}

std::string groups_text(const std::vector<RunGroup>& groups, const std::vector<RunColumn>& keys,
                        const std::vector<RunColumn>& columns) {
  std::string head;
  for (const RunColumn& key : keys) head += (head.empty() ? "" : ", ") + label_of(key.key);
  std::vector<std::vector<std::string>> rows{{head, "RUNS"}};
  for (const RunColumn& column : columns) rows[0].push_back(label_of(column.key));
  const auto add = [&](const auto& add_below, const RunGroup& group, size_t depth) -> void {
    std::vector<std::string>& row = rows.emplace_back();
    row = {std::string(2 * depth, ' ') + cell(keys[depth].key, group.value),
           std::to_string(group.runs.size())};
    for (const RunColumn& column : columns)
      row.push_back(spread_text(column.key, spread_of(group, column)));
    for (const RunGroup& inner : group.groups) add_below(add_below, inner, depth + 1);
  };
  for (const RunGroup& group : groups) add(add, group, 0);
  return table(std::move(rows), {1});
}

nlohmann::json groups_json(const std::vector<RunGroup>& groups,
                           const std::vector<RunColumn>& columns) {
  nlohmann::json list = nlohmann::json::array();
  for (const RunGroup& group : groups) {
    nlohmann::json names = nlohmann::json::array();
    for (const storage::RunSummary& run : group.runs) names.push_back(run.name);
    nlohmann::json values = nlohmann::json::object();
    for (const RunColumn& column : columns)
      if (const auto spread = spread_of(group, column))
        values[column.key] = {{"count", spread->count},
                              {"mean", spread->mean},
                              {"min", spread->min},
                              {"max", spread->max}};
    list.push_back({{"group", json_of(group.value)}, {"runs", names}, {"columns", values}});
    if (!group.groups.empty()) list.back()["groups"] = groups_json(group.groups, columns);
  }
  return list;
}

}  // namespace heddle::workbench
