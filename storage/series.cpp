#include "storage/series.h"

#include <algorithm>
#include <map>
#include <optional>

namespace heddle::storage {
namespace {

/// One series of one log: where its chunks are.
struct Place {
  int64_t series = 0;
  int32_t rank = 0;
  int32_t epoch = 0;
};

/// None: a metric of so many that it is not drawn.
std::optional<int64_t> series_id(Connection& connection, RunId run, const std::string& name) {
  Rows rows = connection.query("SELECT id FROM series WHERE run = ? AND name = ?", run, name);
  return rows.next() ? std::optional(rows.integer(0)) : std::nullopt;
}

/// A level's last chunk, which may have room.
struct OpenChunk {
  int64_t first_index = 0;
  std::vector<Bin> items;
};

OpenChunk last_chunk(Connection& connection, const Place& at, int64_t level) {
  Rows rows = connection.query(
      "SELECT first_index, data FROM chunks WHERE series = ? AND rank = ? AND epoch = ? AND level "
      "= ? "
      "ORDER BY first_step DESC LIMIT 1",
      at.series, at.rank, at.epoch, level);
  if (!rows.next()) return {};
  return {rows.integer(0), unpack(rows.blob(1), level)};
}

void store(Connection& connection, const Place& at, int64_t level, const OpenChunk& chunk) {
  connection.execute(
      "INSERT OR REPLACE INTO chunks (series, rank, epoch, level, first_step, first_index, count, "
      "data) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      at.series, at.rank, at.epoch, level, chunk.items.front().first_step, chunk.first_index,
      chunk.items.size(), Blob{pack(chunk.items, level)});
}

void append(Connection& connection, const Place& at, int64_t level, const std::vector<Bin>& items) {
  OpenChunk chunk = last_chunk(connection, at, level);
  std::vector<Bin> above;
  bool changed = false;
  for (const Bin& item : items) {
    if (!chunk.items.empty() && item.first_step <= chunk.items.back().last_step) continue;
    if (chunk.items.size() == kChunkItems) {
      if (changed) store(connection, at, level, chunk);
      chunk.first_index += static_cast<int64_t>(kChunkItems);
      chunk.items.clear();
    }
    chunk.items.push_back(item);
    changed = true;
    if (chunk.items.size() % kFanOut == 0) {
      above.push_back(merged(std::span(chunk.items).last(kFanOut)));
    }
  }
  if (changed) store(connection, at, level, chunk);
  if (!above.empty()) append(connection, at, level + 1, above);
}

/// The step records of a log that are not in chunks yet.
std::vector<telemetry::Step> waiting_steps(Connection& connection, const LogKey& log,
                                           int64_t compacted) {
  std::vector<telemetry::Step> steps;
  Rows rows = connection.query(
      "SELECT payload FROM records WHERE run = ? AND rank = ? AND epoch = ? AND seq >= ? AND type "
      "= 2 "
      "ORDER BY seq",
      log.run, log.rank, log.epoch, compacted);
  while (rows.next()) {
    auto record = telemetry::decode(telemetry::Type::step, rows.blob(0));
    if (!record) continue;
    auto& step = std::get<telemetry::Step>(*record);
    if (step.step >= 0 && step.step <= kLastStep) steps.push_back(std::move(step));
  }
  return steps;
}

/// Items of one level whose chunks touch the range.
std::vector<Bin> items_within(Connection& connection, const Place& at, int64_t level,
                              StepRange range) {
  Rows rows = connection.query(
      "SELECT data FROM chunks WHERE series = ?1 AND rank = ?2 AND epoch = ?3 AND level = ?4 "
      "AND first_step <= ?6 AND first_step >= coalesce((SELECT max(first_step) FROM chunks "
      "WHERE series = ?1 AND rank = ?2 AND epoch = ?3 AND level = ?4 AND first_step <= ?5), ?5) "
      "ORDER BY first_step",
      at.series, at.rank, at.epoch, level, range.first, range.last);
  std::vector<Bin> within;
  while (rows.next()) {
    for (const Bin& item : unpack(rows.blob(0), level)) {
      if (item.first_step >= range.first && item.last_step <= range.last) within.push_back(item);
    }
  }
  return within;
}

/// Appends the range's items: bins of `level` wholly inside it, finer levels at the ends.
void collect(Connection& connection, const Place& at, int64_t level, StepRange range,
             std::vector<Bin>& out) {
  if (level < 0 || range.first > range.last) return;
  const std::vector<Bin> items = items_within(connection, at, level, range);
  if (items.empty()) return collect(connection, at, level - 1, range, out);
  collect(connection, at, level - 1, {range.first, items.front().first_step - 1}, out);
  out.insert(out.end(), items.begin(), items.end());
  collect(connection, at, level - 1, {items.back().last_step + 1, range.last}, out);
}

/// The approximate number of samples before `step`, to within a chunk.
int64_t samples_before(Connection& connection, const Place& at, int64_t step) {
  Rows rows = connection.query(
      "SELECT first_index, first_index + count FROM chunks WHERE series = ? AND rank = ? AND epoch "
      "= ? "
      "AND level = 0 AND first_step <= ? ORDER BY first_step DESC LIMIT 1",
      at.series, at.rank, at.epoch, step);
  return rows.next() ? rows.integer(1) : 0;
}

int64_t level_for(Connection& connection, const Place& at, StepRange range, size_t max_points) {
  if (max_points == 0) return 0;
  const int64_t chunk = kChunkItems;
  int64_t count = samples_before(connection, at, range.last) -
                  std::max<int64_t>(0, samples_before(connection, at, range.first) - chunk);
  int64_t level = 0;
  for (; count > static_cast<int64_t>(kFanOut * max_points); count /= kFanOut) ++level;
  return level;
}

}  // namespace

void compact(Connection& connection, const LogKey& log) {
  int64_t compacted = 0;
  int64_t next_seq = 0;
  {
    Rows rows = connection.query(
        "SELECT compacted, next_seq FROM logs WHERE run = ? AND rank = ? AND epoch = ?", log.run,
        log.rank, log.epoch);
    if (!rows.next()) return;
    compacted = rows.integer(0);
    next_seq = rows.integer(1);
  }
  std::map<std::string, std::vector<Bin>> samples;
  for (const telemetry::Step& step : waiting_steps(connection, log, compacted)) {
    for (const auto& [name, value] : step.values) {
      samples[name].push_back(bin_of({step.step, value}));
    }
  }
  for (const auto& [name, items] : samples) {
    if (const auto series = series_id(connection, log.run, name))
      append(connection, {*series, log.rank, log.epoch}, 0, items);
  }
  connection.execute(
      "UPDATE logs SET compacted = ?, pending = 0 WHERE run = ? AND rank = ? AND epoch = ?",
      next_seq, log.run, log.rank, log.epoch);
}

std::vector<Bin> read_series(Connection& connection, RunId run, const std::string& name,
                             int32_t rank, StepRange range, size_t max_points) {
  const std::optional<int64_t> series = series_id(connection, run, name);
  if (!series) return {};
  struct Epoch {
    int32_t epoch = 0;
    int64_t compacted = 0;
    bool waiting = false;
  };
  std::vector<Epoch> epochs;
  {
    Rows rows = connection.query(
        "SELECT epoch, compacted, pending FROM logs WHERE run = ? AND rank = ? ORDER BY epoch DESC",
        run, rank);
    while (rows.next()) {
      epochs.push_back(
          {static_cast<int32_t>(rows.integer(0)), rows.integer(1), rows.integer(2) > 0});
    }
  }
  // From the newest attempt back: an older one counts only up to where the newer one began.
  std::vector<std::vector<Bin>> parts;
  for (const Epoch& epoch : epochs) {
    const Place at{*series, rank, epoch.epoch};
    std::vector<Bin> part;
    collect(connection, at, level_for(connection, at, range, max_points), range, part);
    int64_t began = range.last;
    {
      Rows rows = connection.query(
          "SELECT min(first_step) FROM chunks WHERE series = ? AND rank = ? AND epoch = ? AND "
          "level = 0",
          at.series, at.rank, at.epoch);
      if (rows.next() && !rows.null(0)) began = std::min(began, rows.integer(0) - 1);
    }
    if (epoch.waiting) {
      int64_t last = std::numeric_limits<int64_t>::min();
      for (const telemetry::Step& step :
           waiting_steps(connection, {run, rank, epoch.epoch}, epoch.compacted)) {
        const auto value = step.values.find(name);
        if (value == step.values.end()) continue;
        began = std::min(began, step.step - 1);
        if (step.step < range.first || step.step > range.last) continue;
        if (step.step <= last || (!part.empty() && step.step <= part.back().last_step)) continue;
        last = step.step;
        part.push_back(bin_of({step.step, value->second}));
      }
    }
    parts.push_back(std::move(part));
    range.last = began;
    if (range.last < range.first) break;
  }
  std::vector<Bin> bins;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    bins.insert(bins.end(), part->begin(), part->end());
  }
  return bins;
}

}  // namespace heddle::storage
