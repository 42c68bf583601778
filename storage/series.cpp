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

/// Calls `take` with the bytes of each chunk of one level that touches the range.
template <typename Take>
void each_chunk(Connection& connection, const SeriesLog& at, int64_t level, StepRange range,
                Take take) {
  Rows rows = connection.query(
      "SELECT data FROM chunks WHERE series = ?1 AND rank = ?2 AND epoch = ?3 AND level = ?4 "
      "AND first_step <= ?6 AND first_step >= coalesce((SELECT max(first_step) FROM chunks "
      "WHERE series = ?1 AND rank = ?2 AND epoch = ?3 AND level = ?4 AND first_step <= ?5), ?5) "
      "ORDER BY first_step",
      at.series, at.rank, at.epoch, level, range.first, range.last);
  while (rows.next()) take(rows.blob(0));
}

/// A log's chunked samples within the range, one chunk at a time.
void each_chunked_sample(Connection& connection, const SeriesLog& at, StepRange range,
                         const TakeSamples& take) {
  SampleColumns samples;
  each_chunk(connection, at, 0, range, [&](std::string_view data) {
    unpack(data, samples);
    const std::span<const int64_t> steps = samples.steps;
    const auto first = std::ranges::lower_bound(steps, range.first) - steps.begin();
    const auto count = std::ranges::upper_bound(steps, range.last) - steps.begin() - first;
    if (count <= 0) return;
    const auto from = static_cast<size_t>(first), size = static_cast<size_t>(count);
    take(steps.subspan(from, size), std::span<const double>(samples.values).subspan(from, size));
  });
}

/// Items of one level within the range.
std::vector<Bin> items_within(Connection& connection, const SeriesLog& at, int64_t level,
                              StepRange range) {
  std::vector<Bin> within;
  if (level == 0) {
    each_chunked_sample(connection, at, range, [&](auto steps, auto values) {
      for (size_t i = 0; i < steps.size(); ++i) within.push_back(bin_of({steps[i], values[i]}));
    });
    return within;
  }
  each_chunk(connection, at, level, range, [&](std::string_view data) {
    for (const Bin& item : unpack(data, level))
      if (item.first_step >= range.first && item.last_step <= range.last) within.push_back(item);
  });
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

/// A series' samples in one attempt.
struct Attempt {
  SeriesLog at;
  StepRange range;        // the part that counts
  SampleColumns waiting;  // in the range, but in no chunk yet
};

/// The attempts that have steps in the range, oldest first. Each counts up to where a newer one
/// began.
std::vector<Attempt> attempts_within(Connection& connection, RunId run, const std::string& name,
                                     int32_t rank, StepRange range) {
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
  std::vector<Attempt> attempts;
  for (const Epoch& epoch : epochs) {
    Attempt attempt{{*series, rank, epoch.epoch}, range, {}};
    int64_t began = range.last;
    {
      Rows rows = connection.query(
          "SELECT min(first_step) FROM chunks WHERE series = ? AND rank = ? AND epoch = ? AND "
          "level = 0",
          *series, rank, epoch.epoch);
      if (rows.next() && !rows.null(0)) began = std::min(began, rows.integer(0) - 1);
    }
    if (epoch.waiting) {
      for (const telemetry::Step& step :
           waiting_steps(connection, {run, rank, epoch.epoch}, epoch.compacted, range.first)) {
        const auto value = value_of(step, name);
        if (!value) continue;
        began = std::min(began, step.step - 1);
        if (step.step < range.first || step.step > range.last) continue;
        if (!attempt.waiting.empty() && step.step <= attempt.waiting.steps.back()) continue;
        attempt.waiting.add(step.step, *value);
      }
    }
    attempts.push_back(std::move(attempt));
    range.last = began;
    if (range.last < range.first) break;
  }
  std::ranges::reverse(attempts);
  return attempts;
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
  std::optional<double> began;
  read_samples(connection, run, kTimeSeries, rank, range,
               [&](auto, auto values) { began = began.value_or(values.front()); });
  return began.value_or(0);
}

/// The series behind a chart's name.
std::string series_of_chart(Connection& connection, RunId run, const std::string& name) {
  return name == kTokens && !series_id(connection, run, name) ? kTokensSeen : name;
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

SampleColumns chunked_samples(Connection& connection, const SeriesLog& at, StepRange range) {
  SampleColumns samples;
  each_chunked_sample(connection, at, range, [&](auto steps, auto values) {
    samples.steps.insert(samples.steps.end(), steps.begin(), steps.end());
    samples.values.insert(samples.values.end(), values.begin(), values.end());
  });
  return samples;
}

std::vector<Bin> read_series(Connection& connection, RunId run, const std::string& name,
                             int32_t rank, StepRange range, size_t max_points) {
  std::vector<Bin> bins;
  for (const Attempt& attempt : attempts_within(connection, run, name, rank, range)) {
    const size_t before = bins.size();
    collect(connection, attempt.at, level_for(connection, attempt.at, attempt.range, max_points),
            attempt.range, bins);
    const auto& [steps, values] = attempt.waiting;
    for (size_t i = 0; i < steps.size(); ++i)
      if (bins.size() == before || steps[i] > bins.back().last_step)
        bins.push_back(bin_of({steps[i], values[i]}));
  }
  return bins;
}

void read_samples(Connection& connection, RunId run, const std::string& name, int32_t rank,
                  StepRange range, const TakeSamples& take) {
  for (const Attempt& attempt : attempts_within(connection, run, name, rank, range)) {
    int64_t last = -1;
    each_chunked_sample(connection, attempt.at, attempt.range, [&](auto steps, auto values) {
      last = steps.back();
      take(steps, values);
    });
    const std::span<const int64_t> steps = attempt.waiting.steps;
    const std::span<const double> values = attempt.waiting.values;
    const auto known = static_cast<size_t>(std::ranges::upper_bound(steps, last) - steps.begin());
    if (known < steps.size()) take(steps.subspan(known), values.subspan(known));
  }
}

std::vector<Bin> read_chart(Connection& connection, RunId run, const std::string& name,
                            int32_t rank, StepRange range, size_t max_points) {
  std::vector<Bin> bins =
      read_series(connection, run, series_of_chart(connection, run, name), rank, range, max_points);
  if (name != kTimeSeries || bins.empty()) return bins;
  const double began = began_at(connection, run, rank);
  for (Bin& bin : bins)
    for (double Bin::*member : {&Bin::min, &Bin::max, &Bin::mean, &Bin::last}) bin.*member -= began;
  return bins;
}

void read_chart_samples(Connection& connection, RunId run, const std::string& name, int32_t rank,
                        StepRange range, const TakeSamples& take) {
  if (name != kTimeSeries)
    return read_samples(connection, run, series_of_chart(connection, run, name), rank, range, take);
  const double began = began_at(connection, run, rank);
  std::vector<double> since;
  read_samples(connection, run, name, rank, range, [&](auto steps, auto values) {
    since.assign(values.begin(), values.end());
    for (double& value : since) value -= began;
    take(steps, since);
  });
}

}  // namespace heddle::storage
