// Queries about runs as a whole: the list, one in full, columns. queries_live.cpp has those about
// what happened inside a run, compare.cpp the comparison.
#include "storage/queries.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>
#include <unordered_map>

#include "base/one_line.h"
#include "storage/connection.h"
#include "storage/reading.h"
#include "storage/run_rows.h"
#include "storage/schema.h"
#include "storage/state_sql.h"
#include "storage/step_block.h"
#include "storage/store.h"
#include "storage/trust.h"

namespace heddle::storage {
namespace {

#define HEDDLE_SUMMARY                                                                            \
  "SELECT id, name, " HEDDLE_STATE ", " HEDDLE_CAUSE                                              \
  ", target, "                                                                                    \
  "recipe_name, created, started, finished, tags, notes, "                                        \
  "steps, tokens_per_second_per_rank, loss, loss_flag, sparkline, lineage, parent, parent_name, " \
  "parent_step, trashed, starred, archived, color, group_name, changed "                          \
  "FROM runs JOIN summaries ON summaries.run = runs.id "

constexpr size_t kMaxSparkline = 1024;

RunSummary summary_in(const Rows& rows) {
  RunSummary run;
  run.id = rows.integer(0);
  // Somebody else's store, or an older Heddle's, may have any name.
  run.name = one_line(rows.text(1));
  run.state = run_state(rows.text(2)).value_or(RunState::lost);
  run.cause = rows.text(3);
  run.target = one_line(rows.text(4));
  run.recipe_name = one_line(rows.text(5));
  run.created = rows.real(6);
  run.started = rows.optional_real(7);
  run.finished = rows.optional_real(8);
  run.tags = tags_in(rows.blob(9));
  run.notes = rows.text(10);
  run.steps = rows.integer(11);
  run.tokens_per_second_per_rank = rows.optional_real(12);
  if (!rows.null(13) || rows.integer(14) != 0) {
    run.loss = number_of(rows.optional_real(13), rows.integer(14));
  }
  const std::string_view points = rows.blob(15).substr(0, kMaxSparkline * sizeof(float));
  run.sparkline.resize(points.size() / sizeof(float));
  if (!run.sparkline.empty()) {
    std::memcpy(run.sparkline.data(), points.data(), run.sparkline.size() * sizeof(float));
  }
  if (const auto kind = lineage_kind(rows.text(16)))
    run.lineage = Lineage{*kind, rows.integer(17), one_line(rows.text(18)), rows.integer(19)};
  run.trashed = rows.optional_real(20);
  run.starred = rows.optional_real(21);
  run.archived = rows.optional_real(22);
  run.color = rows.text(23);
  run.group = one_line(rows.text(24));
  return run;
}

Value value_in(const Rows& rows, int column) {
  if (rows.is_text(column)) return rows.text(column);
  return number_of(rows.optional_real(column), rows.integer(column + 1));
}

/// `prefix` ends with a dot; the character after it bounds the range of names.
Values facts_of(Connection& connection, RunId run, const std::string& prefix) {
  Values values;
  // Keys outside, facts inside: a seek a key. The other way round reads the facts of all runs.
  Rows rows = connection.query(
      "SELECT name, value, flag FROM keys CROSS JOIN facts "
      "ON facts.key = keys.id AND facts.run = ? WHERE name >= ? AND name < ?",
      run, prefix, prefix.substr(0, prefix.size() - 1) + '/');
  // By name, like the values.
  while (rows.next())
    values.emplace_hint(values.end(), rows.text(0).substr(prefix.size()), value_in(rows, 1));
  return values;
}

/// Whether what `read` reads is not damaged.
template <typename Read>
bool survives(Read read) {
  try {
    read();
    return true;
  } catch (const SQLite::Exception& exception) {
    if (exception.getErrorCode() != SQLITE_CORRUPT) throw;
    return false;
  }
}

/// The runs of a store that is damaged, as far as any of its lists of them can be read.
std::set<RunId> ids_in_damaged(Connection& connection) {
  std::set<RunId> ids;
  for (const char* list :
       {"SELECT id FROM runs ORDER BY id", "SELECT id FROM runs ORDER BY id DESC",
        "SELECT id FROM runs INDEXED BY runs_by_change WHERE changed > 0",
        "SELECT run FROM summaries ORDER BY run", "SELECT run FROM summaries ORDER BY run DESC",
        "SELECT run FROM recipes ORDER BY run"})
    (void)survives([&] {
      Rows rows = connection.query(list);
      while (rows.next()) ids.insert(rows.integer(0));
    });
  return ids;
}

}  // namespace

Reader::Reader(std::unique_ptr<Connection> connection, bool trusted)
    : connection_(std::move(connection)), trusted_(trusted) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

Result<Reader> Reader::open(const std::string& path) {
  const bool trusted = is_trusted(path);
  if (Result<> ready = prepare_to_read(path); !ready) return fail(ready);
  return guarded(path, [&]() -> Result<Reader> {
    return Reader(std::make_unique<Connection>(path, Connection::Access::read), trusted);
  });
}

Result<bool> Reader::changed() {
  return guarded(*connection_, [&]() -> Result<bool> {
    if (connection_->is_outdated()) {
      const std::string path = connection_->path();
      connection_ = std::make_unique<Connection>(path, Connection::Access::read);
      data_version_ = -1;
      runs_.clear();
      runs_cursor_ = 0;
    }
    if (Result<> there = connection_->still_there(); !there) return fail(there);
    Rows rows = connection_->query("PRAGMA data_version");
    rows.next();
    const int64_t version = rows.integer(0);
    return std::exchange(data_version_, version) != version;
  });
}

Result<std::vector<RunSummary>> Reader::runs(bool trashed) {
  Result<RunChanges> changes = runs_changed_since(runs_cursor_);
  if (!changes) return fail(changes);
  runs_cursor_ = changes->cursor;
  const std::set<RunId> removed(changes->removed.begin(), changes->removed.end());
  if (!removed.empty())
    std::erase_if(runs_, [&](const RunSummary& run) { return removed.contains(run.id); });
  std::unordered_map<RunId, size_t> places;
  if (!changes->changed.empty())
    for (size_t i = 0; i < runs_.size(); ++i) places.emplace(runs_[i].id, i);
  const size_t known = runs_.size();
  for (RunSummary& run : changes->changed) {
    const auto place = places.find(run.id);
    if (place != places.end())
      runs_[place->second] = std::move(run);
    else
      runs_.push_back(std::move(run));
  }
  if (runs_.size() > known)
    std::ranges::sort(runs_, std::greater(),
                      [](const RunSummary& run) { return std::pair(run.created, run.id); });
  std::vector<RunSummary> runs;
  runs.reserve(runs_.size());
  for (const RunSummary& run : runs_)
    if (run.trashed.has_value() == trashed) runs.push_back(run);
  return runs;
}

Result<RunChanges> Reader::runs_changed_since(int64_t cursor) {
  return guarded(*connection_, [&]() -> Result<RunChanges> {
    const ReadTransaction transaction(*connection_);
    RunChanges changes;
    changes.cursor = cursor;
    const auto take = [&](Rows rows) {
      while (rows.next()) {
        changes.changed.push_back(summary_in(rows));
        changes.cursor = std::max(changes.cursor, rows.integer(25));
      }
    };
    try {
      take(connection_->query(HEDDLE_SUMMARY "WHERE changed > ? ORDER BY changed", cursor));
    } catch (const SQLite::Exception& exception) {
      if (exception.getErrorCode() != SQLITE_CORRUPT) throw;
      changes.changed.clear();
      std::string lost;
      for (const RunId run : ids_in_damaged(*connection_)) {
        const auto read = [&] {
          take(connection_->query(HEDDLE_SUMMARY "WHERE id = ? AND changed > ?", run, cursor));
        };
        if (!survives(read)) lost += (lost.empty() ? "" : ", ") + std::to_string(run);
      }
      damage_ = fmt::format("{}; {} cannot be read", explain(*connection_, exception).message,
                            lost.empty() ? "some runs" : "the runs " + lost);
    }
    Rows rows =
        connection_->query("SELECT run, changed FROM removed_runs WHERE changed > ?", cursor);
    while (rows.next()) {
      changes.removed.push_back(rows.integer(0));
      changes.cursor = std::max(changes.cursor, rows.integer(1));
    }
    return changes;
  });
}

Result<std::vector<RunSummary>> Reader::unfinished_runs() {
  return guarded(*connection_, [&]() -> Result<std::vector<RunSummary>> {
    std::vector<RunSummary> runs;
    Rows rows =
        connection_->query(HEDDLE_SUMMARY "WHERE state IN ('preparing', 'running') ORDER BY id");
    while (rows.next()) runs.push_back(summary_in(rows));
    return runs;
  });
}

Result<std::vector<RunSummary>> Reader::runs_of_group(const std::string& group) {
  return guarded(*connection_, [&]() -> Result<std::vector<RunSummary>> {
    std::vector<RunSummary> runs;
    Rows rows = connection_->query(
        HEDDLE_SUMMARY "WHERE group_name = ? AND group_name <> '' ORDER BY id", group);
    while (rows.next()) runs.push_back(summary_in(rows));
    return runs;
  });
}

Result<RunSummary> Reader::find_run(const std::string& name_or_id, bool trash_too) {
  return guarded(*connection_, [&]() -> Result<RunSummary> {
    std::optional<RunSummary> found;
    {
      Rows rows = connection_->query(HEDDLE_SUMMARY "WHERE name = ?", name_or_id);
      if (rows.next()) found = summary_in(rows);
    }
    const bool digits = !name_or_id.empty() && name_or_id.size() < 19 &&
                        std::all_of(name_or_id.begin(), name_or_id.end(),
                                    [](char c) { return c >= '0' && c <= '9'; });
    if (!found && digits) {
      Rows rows = connection_->query(HEDDLE_SUMMARY "WHERE id = ?", std::stoll(name_or_id));
      if (rows.next()) found = summary_in(rows);
    }
    if (!found)
      return fail("no run '{}' in {}; `heddle runs` lists them", name_or_id, connection_->path());
    if (found->trashed && !trash_too)
      return fail("run '{}' is in the trash; `heddle restore {}` brings it back", name_or_id,
                  found->id);
    return std::move(*found);
  });
}

Result<std::string> Reader::free_name(const std::string& wish) {
  return guarded(*connection_,
                 [&]() -> Result<std::string> { return storage::free_name(*connection_, wish); });
}

Result<RunDetail> Reader::run(RunId run) {
  return guarded(*connection_, [&]() -> Result<RunDetail> {
    const ReadTransaction transaction(*connection_);
    RunDetail detail;
    {
      Rows rows = connection_->query(HEDDLE_SUMMARY "WHERE id = ?", run);
      if (!rows.next()) {
        return fail("no run with id {} in {}; `heddle runs` lists them", run, connection_->path());
      }
      detail.summary = summary_in(rows);
    }
    {
      Rows rows = connection_->query(
          "SELECT toml, hosts, run_dir FROM recipes JOIN runs ON runs.id = recipes.run WHERE run = "
          "?",
          run);
      if (rows.next()) {
        detail.recipe = rows.text(0);
        // A host or path from somebody else's row is never connected to, read or deleted.
        if (trusted_) {
          detail.hosts = rows.text(1);
          detail.run_dir = rows.text(2);
        }
      }
    }
    detail.environment = facts_of(*connection_, run, "environment.");
    detail.results = facts_of(*connection_, run, "results.");
    {
      Rows rows = connection_->query("SELECT name FROM series WHERE run = ? ORDER BY name", run);
      while (rows.next()) {
        const std::string name = rows.text(0);
        if (name == kTimeSeries)
          detail.axes.insert(detail.axes.begin(), name);
        else
          detail.series.push_back(name);
        if ((name == kTokens || name == kTokensSeen) &&
            (detail.axes.empty() || detail.axes.back() != kTokens))
          detail.axes.emplace_back(kTokens);
      }
    }
    {
      Rows rows = connection_->query(
          "SELECT DISTINCT rank FROM logs WHERE run = ? AND rank >= 0 ORDER BY rank", run);
      while (rows.next()) detail.ranks.push_back(static_cast<int32_t>(rows.integer(0)));
    }
    return detail;
  });
}

Result<std::vector<RunId>> Reader::runs_in(const std::string& run_dir) {
  return guarded(*connection_, [&]() -> Result<std::vector<RunId>> {
    std::vector<RunId> runs;
    Rows rows =
        connection_->query("SELECT id FROM runs WHERE run_dir = ? ORDER BY id DESC", run_dir);
    while (rows.next()) runs.push_back(rows.integer(0));
    return runs;
  });
}

Result<std::vector<RunId>> Reader::runs_that_began(uint64_t checksum) {
  return guarded(*connection_, [&]() -> Result<std::vector<RunId>> {
    std::vector<RunId> runs;
    Rows rows = connection_->query(
        "SELECT runs.id FROM runs CROSS JOIN records ON records.run = runs.id AND rank = 0 AND "
        "epoch = 0 AND seq = 0 WHERE checksum = ? ORDER BY runs.id DESC",
        static_cast<int64_t>(checksum));
    while (rows.next()) runs.push_back(rows.integer(0));
    return runs;
  });
}

Result<RunSize> Reader::size_of(RunId run) {
  return guarded(*connection_, [&]() -> Result<RunSize> {
    Rows rows = connection_->query(
        "SELECT (SELECT coalesce(sum(records), 0) FROM logs WHERE run = ?1),"
        "(SELECT coalesce(sum(length(payload)), 0) FROM records WHERE run = ?1) + "
        "(SELECT coalesce(sum(length(data)), 0) FROM step_blocks WHERE run = ?1) + "
        "(SELECT coalesce(sum(length(data)), 0) FROM chunks JOIN series ON series.id = "
        "chunks.series WHERE run = ?1)",
        run);
    rows.next();
    return RunSize{rows.integer(0), static_cast<uint64_t>(rows.integer(1))};
  });
}

Result<std::vector<std::string>> Reader::columns() {
  return guarded(*connection_, [&]() -> Result<std::vector<std::string>> {
    std::vector<std::string> names;
    Rows rows = connection_->query("SELECT name FROM keys ORDER BY name");
    while (rows.next()) names.push_back(rows.text(0));
    return names;
  });
}

Result<std::map<RunId, Value>> Reader::column(const std::string& name) {
  return guarded(*connection_, [&]() -> Result<std::map<RunId, Value>> {
    std::map<RunId, Value> column;
    const auto take = [&](Rows rows) {
      while (rows.next()) column.insert_or_assign(rows.integer(0), value_in(rows, 1));
    };
    try {
      take(connection_->query(
          "SELECT run, value, flag FROM facts WHERE key = (SELECT id FROM keys WHERE name = ?) "
          "ORDER BY run",
          name));
    } catch (const SQLite::Exception& exception) {
      if (exception.getErrorCode() != SQLITE_CORRUPT) throw;
      for (const RunId run : ids_in_damaged(*connection_))
        (void)survives([&] {
          take(connection_->query(
              "SELECT run, value, flag FROM facts WHERE key = (SELECT id FROM keys WHERE name = ?) "
              "AND run = ?",
              name, run));
        });
      damage_ = fmt::format("{}; {} cannot be read of all runs",
                            explain(*connection_, exception).message, name);
    }
    return column;
  });
}

Result<Values> Reader::recipe_values(RunId run) {
  return guarded(*connection_, [&]() -> Result<Values> {
    // The next run's values are in the same pages.
    connection_->set_cache(Connection::Cache::wide);
    return facts_of(*connection_, run, "recipe.");
  });
}

Result<std::vector<Target>> Reader::targets() {
  return guarded(*connection_, [&]() -> Result<std::vector<Target>> {
    std::vector<Target> targets;
    Rows rows =
        connection_->query("SELECT name, kind, hosts, host_keys, probe FROM targets ORDER BY name");
    while (rows.next()) {
      targets.push_back({rows.text(0), rows.text(1), rows.text(2), rows.text(3), rows.text(4)});
    }
    return targets;
  });
}

}  // namespace heddle::storage
