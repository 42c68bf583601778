#include "storage/series.h"

#include <algorithm>
#include <optional>

#include "storage/step_block.h"

namespace heddle::storage {
namespace {

/// So many records in a row before a range: one alone may have gone back.
constexpr int kBefore = 8;

/// The step records of a log that are not in chunks yet, from the newest back to step `first`, and
/// a few earlier ones.
std::vector<telemetry::Step> waiting_steps(Connection& connection, const LogKey& log,
                                           int64_t compacted, int64_t first) {
  std::vector<telemetry::Step> steps;
  int before = 0;
  Rows rows = connection.query(
      "SELECT payload FROM records WHERE run = ? AND rank = ? AND epoch = ? AND seq >= ? AND type "
      "= 2 "
      "ORDER BY seq DESC",
      log.run, log.rank, log.epoch, compacted);
  while (before < kBefore && rows.next()) {
    auto record = telemetry::decode(telemetry::Type::step, rows.blob(0));
    if (!record) continue;
    auto& step = std::get<telemetry::Step>(*record);
    if (!is_charted(step)) continue;
    before = step.step < first ? before + 1 : 0;
    steps.push_back(std::move(step));
  }
  std::ranges::reverse(steps);
  return steps;
}

/// Items of one level whose chunks touch the range.
std::vector<Bin> items_within(Connection& connection, const SeriesLog& at, int64_t level,
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
void collect(Connection& connection, const SeriesLog& at, int64_t level, StepRange range,
             std::vector<Bin>& out) {
  if (level < 0 || range.first > range.last) return;
  const std::vector<Bin> items = items_within(connection, at, level, range);
  if (items.empty()) return collect(connection, at, level - 1, range, out);
  collect(connection, at, level - 1, {range.first, items.front().first_step - 1}, out);
  out.insert(out.end(), items.begin(), items.end());
  collect(connection, at, level - 1, {items.back().last_step + 1, range.last}, out);
}

/// The approximate number of samples before `step`, to within a chunk.
int64_t samples_before(Connection& connection, const SeriesLog& at, int64_t step) {
  Rows rows = connection.query(
      "SELECT first_index, first_index + count FROM chunks WHERE series = ? AND rank = ? AND epoch "
      "= ? "
      "AND level = 0 AND first_step <= ? ORDER BY first_step DESC LIMIT 1",
      at.series, at.rank, at.epoch, step);
  return rows.next() ? rows.integer(1) : 0;
}

int64_t level_for(Connection& connection, const SeriesLog& at, StepRange range, size_t max_points) {
  if (max_points == 0) return 0;
  const int64_t chunk = kChunkSamples;
  int64_t count = samples_before(connection, at, range.last) -
                  std::max<int64_t>(0, samples_before(connection, at, range.first) - chunk);
  int64_t level = 0;
  for (; count > static_cast<int64_t>(kFanOut * max_points); count /= kFanOut) ++level;
  return level;
}

/// The time of a rank's first step.
double began_at(Connection& connection, RunId run, int32_t rank) {
  StepRange range;
  if (const auto series = series_id(connection, run, kTimeSeries)) {
    Rows rows = connection.query(
        "SELECT min(first_step) FROM chunks WHERE series = ? AND rank = ? AND level = 0", *series,
        rank);
    if (rows.next() && !rows.null(0)) range = {rows.integer(0), rows.integer(0)};
  }
  const std::vector<Bin> first = read_series(connection, run, kTimeSeries, rank, range, 0);
  return first.empty() ? 0 : first.front().last;
}

}  // namespace

std::optional<int64_t> series_id(Connection& connection, RunId run, const std::string& name) {
  Rows rows = connection.query("SELECT id FROM series WHERE run = ? AND name = ?", run, name);
  return rows.next() ? std::optional(rows.integer(0)) : std::nullopt;
}

std::optional<double> value_of(const telemetry::Step& step, const std::string& name) {
  if (name == kTimeSeries) return has_time(step) ? std::optional(step.time) : std::nullopt;
  const auto value = step.values.find(name);
  return value == step.values.end() ? std::nullopt : std::optional(value->second);
}

std::vector<Bin> chunked_samples(Connection& connection, const SeriesLog& at, StepRange range) {
  return items_within(connection, at, 0, range);
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
    const SeriesLog at{*series, rank, epoch.epoch};
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
           waiting_steps(connection, {run, rank, epoch.epoch}, epoch.compacted, range.first)) {
        const auto value = value_of(step, name);
        if (!value) continue;
        began = std::min(began, step.step - 1);
        if (step.step < range.first || step.step > range.last) continue;
        if (step.step <= last || (!part.empty() && step.step <= part.back().last_step)) continue;
        last = step.step;
        part.push_back(bin_of({step.step, *value}));
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

std::vector<Bin> read_chart(Connection& connection, RunId run, const std::string& name,
                            int32_t rank, StepRange range, size_t max_points) {
  const bool is_alias = name == kTokens && !series_id(connection, run, name);
  std::vector<Bin> bins =
      read_series(connection, run, is_alias ? kTokensSeen : name, rank, range, max_points);
  if (name != kTimeSeries || bins.empty()) return bins;
  const double began = began_at(connection, run, rank);
  for (Bin& bin : bins)
    for (double Bin::*member : {&Bin::min, &Bin::max, &Bin::mean, &Bin::last}) bin.*member -= began;
  return bins;
}

}  // namespace heddle::storage
