#include "storage/run_rows.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/clock.h"
#include "base/excerpt.h"
#include "base/json_text.h"
#include "base/one_line.h"
#include "base/read_json.h"
#include "base/run_palette.h"
#include "storage/clock.h"
#include "storage/compaction.h"
#include "storage/queue.h"
#include "storage/run_name.h"
#include "storage/step_block.h"

namespace heddle::storage {
namespace {

constexpr size_t kMaxLineBytes = size_t{16} << 10;  // the record has the whole

constexpr const char* kTrashed = " (trashed";

/// By a run that is not in the trash.
bool name_taken(Connection& connection, const std::string& name) {
  return connection.query("SELECT 1 FROM runs WHERE name = ? AND trashed IS NULL", name).next();
}

/// A run in the trash frees its name.
void make_way(Connection& connection, const std::string& name) {
  RunId run = 0;
  {
    Rows rows = connection.query("SELECT id FROM runs WHERE name = ?", name);
    if (!rows.next()) return;
    run = rows.integer(0);
  }
  const auto taken = [&](const std::string& other) {
    return connection.query("SELECT 1 FROM runs WHERE name = ?", other).next();
  };
  std::string other = fmt::format("{}{})", name, kTrashed);
  for (int i = 2; taken(other); ++i) other = fmt::format("{}{} {})", name, kTrashed, i);
  connection.execute("UPDATE runs SET name = ? WHERE id = ?", other, run);
  touch(connection, run);
}

/// The name that a run had before it made way.
std::string own_name(const std::string& name) {
  const size_t at = name.rfind(kTrashed);
  return at == std::string::npos || at == 0 || name.back() != ')' ? name : name.substr(0, at);
}

int64_t key_id(Connection& connection, const std::string& name) {
  {
    Rows rows = connection.query("SELECT id FROM keys WHERE name = ?", name);
    if (rows.next()) return rows.integer(0);
  }
  connection.execute("INSERT INTO keys (name) VALUES (?)", name);
  return connection.last_insert_id();
}

void set_fact(Connection& connection, RunId run, const std::string& name, const Value& value) {
  const int64_t key = key_id(connection, name);
  constexpr const char* kSet =
      "INSERT OR REPLACE INTO facts (key, run, value, flag) VALUES (?, ?, ?, ?)";
  if (const auto* number = std::get_if<double>(&value)) {
    const int flag = nonfinite_flag(*number);
    connection.execute(kSet, key, run, flag ? std::nullopt : std::optional(*number), flag);
  } else {
    connection.execute(kSet, key, run, std::get<std::string>(value), 0);
  }
}

/// A run is continued by one run at a time; any number may fork it.
Result<> check_free_to_resume(Connection& connection, const Lineage& lineage) {
  Rows rows = connection.query(
      "SELECT name, created FROM runs WHERE parent = ? AND lineage = 'resume' "
      "AND state IN ('preparing', 'running')",
      lineage.parent);
  if (!rows.next()) return {};
  const auto since = static_cast<time_t>(rows.real(1));
  tm local{};
  localtime_r(&since, &local);
  char text[32];
  strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &local);
  return fail("{} is being continued by {} since {}; fork it instead", lineage.parent_name,
              rows.text(0), text);
}

/// Two runs that save in one folder would take each other's checkpoints for their own.
Result<> check_free_to_save(Connection& connection, const NewRun& run) {
  for (const auto& [key, folder] : run.recipe_values) {
    if (key != "checkpoint.folder") continue;
    Rows rows = connection.query(
        "SELECT name, state FROM facts JOIN runs ON runs.id = facts.run "
        "WHERE key = (SELECT id FROM keys WHERE name = 'recipe.checkpoint.folder') AND value = ? "
        "AND target = ? AND state IN ('preparing', 'running')",
        folder, run.target);
    if (rows.next())
      return fail(
          "checkpoint.folder: {} is {} and saves its checkpoints in {}; valid: another folder, or "
          "none for one in the run directory",
          rows.text(0), rows.text(1), folder);
  }
  return {};
}

double time_of(const telemetry::Record& record) {
  return std::visit([](const auto& content) { return content.time; }, record);
}

/// The time of each log's newest step that is in chunks.
std::vector<double> newest_step_times(Connection& connection, RunId run) {
  std::vector<double> times;
  const auto series = series_id(connection, run, kTimeSeries);
  if (!series) return times;
  Rows rows = connection.query(
      "SELECT data, max(first_step) FROM chunks WHERE series = ? AND level = 0 GROUP BY rank, "
      "epoch",
      *series);
  while (rows.next())
    if (const auto samples = unpack(rows.blob(0), 0); !samples.empty())
      times.push_back(samples.back().last);
  return times;
}

/// When the newest record of its ranks and its supervisor was made; of a run without one, when it
/// was started.
std::optional<double> last_sign(Connection& connection, RunId run) {
  std::optional<double> last;
  Rows rows = connection.query(
      "SELECT type, payload FROM records JOIN (SELECT rank AS r, epoch AS e, max(seq) AS s FROM "
      "records WHERE run = ?1 GROUP BY rank, epoch) ON rank = r AND epoch = e AND seq = s "
      "WHERE run = ?1",
      run);
  while (rows.next()) {
    const auto record =
        telemetry::decode(static_cast<telemetry::Type>(rows.integer(0)), rows.blob(1));
    if (record && std::isfinite(time_of(*record)))
      last = std::max(last.value_or(time_of(*record)), time_of(*record));
  }
  for (const double time : newest_step_times(connection, run))
    last = std::max(last.value_or(time), time);
  if (last) return *last - clock_ahead(connection, run);
  Rows started = connection.query("SELECT started FROM runs WHERE id = ?", run);
  return started.next() ? started.optional_real(0) : std::nullopt;
}

int64_t next_change(Connection& connection) {
  Rows rows = connection.query(
      "SELECT 1 + max(coalesce((SELECT max(changed) FROM runs), 0), "
      "coalesce((SELECT max(changed) FROM removed_runs), 0))");
  rows.next();
  return rows.integer(0);
}

}  // namespace

double clock_ahead(Connection& connection, RunId run) {
  Rows rows = connection.query(
      "SELECT value FROM facts WHERE key = (SELECT id FROM keys WHERE name = ?) AND run = ?",
      std::string("environment.") + kClockAhead, run);
  return rows.next() ? rows.optional_real(0).value_or(0) : 0;
}

int nonfinite_flag(double value) {
  if (std::isnan(value)) return 1;
  if (std::isinf(value)) return value > 0 ? 2 : 3;
  return 0;
}

double number_of(std::optional<double> stored, int64_t flag) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (flag == 2) return kInfinity;
  if (flag == 3) return -kInfinity;
  return stored.value_or(std::numeric_limits<double>::quiet_NaN());
}

std::string free_name(Connection& connection, const std::string& wish) {
  std::string name = wish;
  for (int i = 2; name_taken(connection, name); ++i) name = fmt::format("{}-{}", wish, i);
  return name;
}

Result<> require_run(Connection& connection, RunId run) {
  if (connection.query("SELECT 1 FROM runs WHERE id = ?", run).next()) return {};
  return fail("no run with id {} in the store; `heddle runs` lists them", run);
}

void touch(Connection& connection, RunId run) {
  const int64_t change = next_change(connection);
  connection.execute("UPDATE runs SET changed = ? WHERE id = ?", change, run);
}

Result<CreatedRun> create_run(Connection& connection, const NewRun& run) {
  connection.set_cache(Connection::Cache::wide);
  // An imported one is called as its folder is.
  const std::string wish = run.imported ? one_line(run.name) : run.name;
  if (wish.empty()) return fail("a run needs a name");
  if (!run.imported)
    if (Result<> valid = check_name(wish); !valid) return fail(valid);
  if (run.lineage && run.lineage->kind == Lineage::Kind::resume)
    if (Result<> is_free = check_free_to_resume(connection, *run.lineage); !is_free)
      return fail(is_free);
  if (run.claims_folder)
    if (Result<> is_free = check_free_to_save(connection, run); !is_free) return fail(is_free);
  if (run.imported) {
    Rows rows = connection.query("SELECT name FROM runs WHERE run_dir = ? AND target = ?",
                                 run.run_dir, run.target);
    if (rows.next()) return fail("{}: it is here already, as {}", run.run_dir, rows.text(0));
  }
  const std::string name = free_name(connection, wish);
  make_way(connection, name);
  connection.execute(
      "INSERT INTO runs (name, state, target, recipe_name, created, hosts, run_dir, group_name) "
      "VALUES (?, 'preparing', ?, ?, ?, ?, ?, ?)",
      name, run.target, one_line(run.recipe_name), run.created > 0 ? run.created : unix_now(),
      run.hosts, run.run_dir, one_line(run.group));
  const RunId id = connection.last_insert_id();
  if (const auto& lineage = run.lineage)
    connection.execute(
        "UPDATE runs SET lineage = ?, parent = nullif(?, 0), parent_name = ?, parent_step = ? "
        "WHERE id = ?",
        to_string(lineage->kind), lineage->parent, lineage->parent_name, lineage->step, id);
  connection.execute("INSERT INTO recipes (run, toml) VALUES (?, ?)", id, run.recipe);
  connection.execute("INSERT INTO summaries (run) VALUES (?)", id);
  connection.execute("INSERT INTO curves (run) VALUES (?)", id);
  Values values;
  for (const auto& [key, value] : run.recipe_values) values[key] = value;
  set_facts(connection, id, "recipe.", values);
  touch(connection, id);
  if (run.waiting) enter_queue(connection, id, *run.waiting);
  return CreatedRun{id, name};
}

Result<std::vector<CreatedRun>> create_runs(Connection& connection, const std::vector<NewRun>& runs,
                                            const Halving& halving) {
  std::vector<CreatedRun> made;
  for (const NewRun& run : runs) {
    Result<CreatedRun> created = create_run(connection, run);
    if (!created) return fail(created);
    made.push_back(std::move(*created));
  }
  if (!runs.empty() && !runs[0].group.empty()) set_halving(connection, runs[0].group, halving);
  return made;
}

Result<> set_state(Connection& connection, RunId run, RunState state, const std::string& cause,
                   double time) {
  if (Result<> found = require_run(connection, run); !found) return found;
  if (time <= 0)
    time = state == RunState::lost ? last_sign(connection, run).value_or(unix_now()) : unix_now();
  if (state == RunState::queued) {
    if (Result<> waits = require_queued(connection, run); !waits) return waits;
    state = RunState::preparing;  // in the table
  } else {
    leave_queue(connection, run);
  }
  connection.execute("UPDATE runs SET state = ?, cause = ? WHERE id = ?", to_string(state),
                     excerpt(cause, kMaxLineBytes), run);
  touch(connection, run);
  if (state == RunState::running) {
    connection.execute(
        "UPDATE runs SET started = coalesce(started, ?), finished = NULL WHERE id = ?", time, run);
  }
  if (!has_ended(state)) return {};
  connection.execute("UPDATE runs SET finished = ? WHERE id = ?", time, run);
  connection.execute("DELETE FROM links WHERE run = ?", run);
  std::vector<LogKey> waiting;
  {
    Rows rows = connection.query("SELECT rank, epoch FROM logs WHERE run = ? AND pending > 0", run);
    while (rows.next()) {
      waiting.push_back(
          {run, static_cast<int32_t>(rows.integer(0)), static_cast<int32_t>(rows.integer(1))});
    }
  }
  for (const LogKey& log : waiting) compact(connection, log);
  return {};
}

Result<> set_link(Connection& connection, RunId run, const Link& link) {
  if (Result<> found = require_run(connection, run); !found) return found;
  if (connection.query("SELECT 1 FROM runs WHERE id = ? AND finished IS NOT NULL", run).next())
    return {};
  std::string waited;
  {
    Rows rows = connection.query("SELECT waits FROM links WHERE run = ?", run);
    if (rows.next()) waited = rows.text(0);
  }
  connection.execute(
      "INSERT INTO links (run, heard, lost, next_try, reason, waits) VALUES (?, ?, ?, ?, ?, ?) "
      "ON CONFLICT (run) DO UPDATE SET heard = max(heard, excluded.heard), lost = excluded.lost, "
      "next_try = excluded.next_try, reason = excluded.reason, waits = excluded.waits",
      run, link.heard, link.lost, link.next_try, link.reason, link.waits);
  // Its state and cause follow from it.
  if (waited != link.waits) touch(connection, run);
  return {};
}

Result<> rename_run(Connection& connection, RunId run, const std::string& name) {
  if (Result<> found = require_run(connection, run); !found) return found;
  if (Result<> valid = check_name(name); !valid) return valid;
  if (connection.query("SELECT 1 FROM runs WHERE name = ? AND id = ?", name, run).next()) return {};
  if (name_taken(connection, name)) {
    return fail("another run is called '{}'; choose another name", name);
  }
  make_way(connection, name);
  connection.execute("UPDATE runs SET name = ? WHERE id = ?", name, run);
  touch(connection, run);
  return {};
}

Result<> set_color(Connection& connection, RunId run, const std::string& color) {
  const bool has_color = color.starts_with('#');
  const size_t end = has_color ? std::min(color.find(' '), color.size()) : 0;
  const bool is_color =
      !has_color || (end == 7 && color.find_first_not_of("0123456789abcdefABCDEF", 1) >= end);
  const std::string_view marker =
      std::string_view(color).substr(has_color && end < color.size() ? end + 1 : end);
  const bool is_marker =
      (has_color && end == color.size()) || std::ranges::count(kRunMarkerNames, marker);
  if (!color.empty() && !(is_color && is_marker))
    return fail(
        "no stroke \"{}\"; valid: #rrggbb, a marker ({}), both, or nothing for the stroke of its "
        "number",
        one_line(color), fmt::join(kRunMarkerNames, ", "));
  if (Result<> found = require_run(connection, run); !found) return found;
  connection.execute("UPDATE runs SET color = ? WHERE id = ?", color, run);
  touch(connection, run);
  return {};
}

Result<> set_group(Connection& connection, RunId run, const std::string& group) {
  if (group != one_line(group))
    return fail("a group cannot be called \"{}\"; valid: one line, or nothing for none",
                one_line(group));
  if (Result<> found = require_run(connection, run); !found) return found;
  connection.execute("UPDATE runs SET group_name = ? WHERE id = ?", group, run);
  touch(connection, run);
  return {};
}

std::vector<std::string> tags_in(std::string_view json) {
  std::vector<std::string> tags;
  const auto list = read_json(json).value_or(nlohmann::json::array());
  for (const auto& tag : list)
    if (tag.is_string()) tags.push_back(tag);
  return tags;
}

Result<std::vector<std::string>> change_tags(Connection& connection, RunId run,
                                             const std::vector<std::string>& add,
                                             const std::vector<std::string>& remove) {
  if (Result<> found = require_run(connection, run); !found) return fail(found);
  std::vector<std::string> before;
  {
    Rows rows = connection.query("SELECT tags FROM runs WHERE id = ?", run);
    if (rows.next()) before = tags_in(rows.blob(0));
  }
  std::vector<std::string> tags = before;
  for (const std::string& tag : add)
    if (std::ranges::find(tags, tag) == tags.end()) tags.push_back(tag);
  for (const std::string& tag : remove) std::erase(tags, tag);
  if (tags == before) return tags;
  connection.execute("UPDATE runs SET tags = ? WHERE id = ?", json_text(nlohmann::json(tags)), run);
  touch(connection, run);
  return tags;
}

Result<> trash_run(Connection& connection, RunId run) {
  if (Result<> found = require_run(connection, run); !found) return found;
  {
    Rows rows = connection.query(
        "SELECT name, iif(id IN (SELECT run FROM queue), 'queued', state) FROM runs WHERE id = ?",
        run);
    rows.next();
    const std::string state = rows.text(1);
    if (!has_ended(run_state(state).value_or(RunState::lost)))
      return fail("{} is {}; stop it first", rows.text(0), state);
  }
  connection.execute("UPDATE runs SET trashed = ? WHERE id = ? AND trashed IS NULL", unix_now(),
                     run);
  touch(connection, run);
  return {};
}

Result<> restore_run(Connection& connection, RunId run) {
  if (Result<> found = require_run(connection, run); !found) return found;
  std::string name;
  {
    Rows rows = connection.query("SELECT name FROM runs WHERE id = ? AND trashed IS NOT NULL", run);
    if (!rows.next()) return {};
    name = free_name(connection, own_name(rows.text(0)));
  }
  if (!connection.query("SELECT 1 FROM runs WHERE name = ? AND id = ?", name, run).next())
    make_way(connection, name);
  connection.execute("UPDATE runs SET trashed = NULL, name = ? WHERE id = ?", name, run);
  touch(connection, run);
  return {};
}

Result<> remove_run(Connection& connection, RunId run) {
  if (Result<> found = require_run(connection, run); !found) return found;
  // Seeks, one a key: the table is ordered by key.
  connection.execute("DELETE FROM facts WHERE key IN (SELECT id FROM keys) AND run = ?", run);
  connection.execute(
      "DELETE FROM metric_summaries WHERE metric IN (SELECT id FROM metrics) AND run = ?", run);
  connection.execute("INSERT OR REPLACE INTO removed_runs (run, changed) VALUES (?, ?)", run,
                     next_change(connection));
  // Their parent is none from now on.
  connection.execute("UPDATE runs SET changed = ? WHERE parent = ?", next_change(connection), run);
  connection.execute("DELETE FROM runs WHERE id = ?", run);
  return {};
}

void set_facts(Connection& connection, RunId run, const std::string& prefix, const Values& values) {
  for (const auto& [key, value] : values) set_fact(connection, run, prefix + key, value);
}

void add_line(Connection& connection, RunId run, const LogLine& line) {
  connection.execute("INSERT INTO lines (run, rank, time, level, text) VALUES (?, ?, ?, ?, ?)", run,
                     line.rank, line.time > 0 ? line.time : unix_now(),
                     static_cast<int>(line.level), excerpt(line.text, kMaxLineBytes));
}

}  // namespace heddle::storage
