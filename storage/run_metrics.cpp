#include "storage/run_metrics.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "storage/run_rows.h"
#include "storage/step_block.h"

namespace heddle::storage {
namespace {

/// Some bins, whatever the length of the series.
constexpr size_t kBins = 16;

int64_t metric_id(Connection& connection, const std::string& name) {
  {
    Rows rows = connection.query("SELECT id FROM metrics WHERE name = ?", name);
    if (rows.next()) return rows.integer(0);
  }
  connection.execute("INSERT INTO metrics (name) VALUES (?)", name);
  return connection.last_insert_id();
}

/// So many samples are read as they are.
constexpr uint32_t kFewSamples = 4096;

/// The first step with the least value of `extreme(bin)`: from the bin that has it down to a
/// sample.
template <typename Extreme>
int64_t step_of(Connection& connection, RunId run, const std::string& name, int32_t rank,
                std::vector<Bin> bins, Extreme extreme) {
  for (;;) {
    const Bin* best = nullptr;
    for (const Bin& bin : bins)
      if (!std::isnan(bin.min) && (!best || extreme(bin) < extreme(*best))) best = &bin;
    if (!best) return 0;
    if (best->count == 1) return best->first_step;
    bins = read_series(connection, run, name, rank, {best->first_step, best->last_step},
                       best->count > kFewSamples ? kBins : 0);
  }
}

/// The summary of a whole series, from its pyramid.
MetricSummary summary_of(Connection& connection, RunId run, const std::string& name, int32_t rank) {
  const std::vector<Bin> bins = read_series(connection, run, name, rank, {}, kBins);
  MetricSummary summary;
  if (bins.empty()) return summary;
  const Bin whole = merged(bins);
  for (const Bin& bin : bins) {  // a bin counts in 32 bits
    summary.count += bin.count;
    summary.nonfinite += bin.nonfinite;
  }
  summary.last = whole.last;
  summary.last_step = whole.last_step;
  summary.min = whole.min;
  summary.max = whole.max;
  summary.mean = whole.mean;
  summary.min_step =
      step_of(connection, run, name, rank, bins, [](const Bin& bin) { return bin.min; });
  summary.max_step =
      step_of(connection, run, name, rank, bins, [](const Bin& bin) { return -bin.max; });
  return summary;
}

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

void write(Connection& connection, RunId run, const KeptMetric& metric) {
  const MetricSummary& summary = metric.summary;
  const int flag = nonfinite_flag(summary.last);
  connection.execute(
      "INSERT OR REPLACE INTO metric_summaries (metric, run, rank, epoch, count, nonfinite, last, "
      "last_flag, last_step, min, min_step, max, max_step, mean) VALUES (?, ?, ?, ?, ?, ?, ?, ?, "
      "?, ?, ?, ?, ?, ?)",
      metric.id, run, metric.rank, metric.epoch, summary.count, summary.nonfinite,
      flag ? std::nullopt : std::optional(summary.last), flag, summary.last_step,
      finite(summary.min), summary.min_step, finite(summary.max), summary.max_step,
      finite(summary.mean));
}

}  // namespace

RunMetrics::Run& RunMetrics::open(RunId run) {
  const auto [found, is_new] = runs_.try_emplace(run);
  if (!is_new) return found->second;
  auto& metrics = found->second.metrics;
  {
    Rows names = connection_.query("SELECT name FROM series WHERE run = ?", run);
    while (names.next()) metrics.try_emplace(names.text(0));
  }
  Rows rows = connection_.query(
      "SELECT name, id, rank, epoch, count, nonfinite, last, last_flag, last_step, min, min_step, "
      "max, max_step, mean FROM metrics CROSS JOIN metric_summaries ON metric = id AND run = ?",
      run);
  while (rows.next()) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    KeptMetric& metric = metrics[rows.text(0)];
    metric.id = rows.integer(1);
    metric.rank = static_cast<int32_t>(rows.integer(2));
    metric.epoch = static_cast<int32_t>(rows.integer(3));
    metric.summary = {.count = rows.integer(4),
                      .nonfinite = rows.integer(5),
                      .last = number_of(rows.optional_real(6), rows.integer(7)),
                      .min = rows.optional_real(9).value_or(kNone),
                      .max = rows.optional_real(11).value_or(kNone),
                      .mean = rows.optional_real(13).value_or(kNone),
                      .last_step = rows.integer(8),
                      .min_step = rows.integer(10),
                      .max_step = rows.integer(12)};
  }
  return found->second;
}

std::map<std::string, KeptMetric>::iterator RunMetrics::make_series(Run& run, RunId id,
                                                                    const std::string& name) {
  connection_.execute("INSERT OR IGNORE INTO series (run, name) VALUES (?, ?)", id, name);
  return run.metrics.try_emplace(name).first;
}

bool RunMetrics::add(const LogKey& log, const telemetry::Step& step) {
  Run& run = open(log.run);
  bool all = true;
  for (const auto& [name, value] : step.values) {
    auto found = run.metrics.find(name);
    const bool is_full = found == run.metrics.end() && run.metrics.size() >= kMaxSeries;
    if (is_full || name.size() > kMaxNameBytes || name == kTimeSeries) {
      all = all && std::exchange(run.refused, true);
      continue;
    }
    if (found == run.metrics.end()) found = make_series(run, log.run, name);
    if (is_charted(step)) take(found->second, log, step.step, value);
  }
  if (has_time(step) && !run.metrics.contains(kTimeSeries)) make_series(run, log.run, kTimeSeries);
  return all;
}

void RunMetrics::add(const LogKey& log, const StepColumns& columns) {
  Run& run = open(log.run);
  for (const auto& [name, rows, values] : columns.metrics) {
    auto found = run.metrics.find(name);
    if (found == run.metrics.end()) found = make_series(run, log.run, name);
    for (size_t i = 0; i < values.size(); ++i)
      take(found->second, log, columns.steps[rows[i]], values[i]);
  }
  if (std::ranges::any_of(columns.times, is_known) && !run.metrics.contains(kTimeSeries))
    make_series(run, log.run, kTimeSeries);
}

bool RunMetrics::has_room(RunId id, const StepColumns& columns) {
  const Run& run = open(id);
  size_t series = run.metrics.size();
  for (const auto& metric : columns.metrics) {
    if (metric.name.size() > kMaxNameBytes || metric.name == kTimeSeries) return false;
    series += !run.metrics.contains(metric.name);
  }
  return series <= kMaxSeries;
}

void RunMetrics::take(KeptMetric& metric, const LogKey& log, int64_t step, double value) {
  if (metric.summary.count == 0 || log.rank < metric.rank) {
    metric = {.id = metric.id, .rank = log.rank, .epoch = log.epoch, .summary = {}};
  } else if (log.rank > metric.rank) {
    return;
  } else if (log.epoch == metric.epoch) {
    if (step <= metric.summary.last_step) return;  // in charts steps grow
  } else if (log.epoch < metric.epoch || step <= metric.summary.last_step) {
    metric.outdated = true;
  }
  metric.epoch = std::max(metric.epoch, log.epoch);
  metric.changed = true;
  storage::add(metric.summary, step, value);
}

void RunMetrics::save(RunId run) {
  const auto found = runs_.find(run);
  if (found == runs_.end()) return;
  for (auto& [name, metric] : found->second.metrics) {
    if (!std::exchange(metric.changed, false)) continue;
    if (metric.id == 0) metric.id = metric_id(connection_, name);
    if (std::exchange(metric.outdated, false))
      metric.summary = summary_of(connection_, run, name, metric.rank);
    write(connection_, run, metric);
  }
}

void fill_metric_summaries(Connection& connection) {
  std::vector<std::pair<RunId, std::string>> series;
  {
    Rows rows =
        connection.query("SELECT run, name FROM series WHERE name <> ? ORDER BY run", kTimeSeries);
    while (rows.next()) series.emplace_back(rows.integer(0), rows.text(1));
  }
  std::map<int32_t, int32_t> ranks;  // with their newest epochs
  RunId of_run = 0;
  for (const auto& [run, name] : series) {
    if (std::exchange(of_run, run) != run) {
      ranks.clear();
      Rows rows = connection.query(
          "SELECT rank, max(epoch) FROM logs WHERE run = ? AND rank >= 0 GROUP BY rank", run);
      while (rows.next())
        ranks.emplace(static_cast<int32_t>(rows.integer(0)), static_cast<int32_t>(rows.integer(1)));
    }
    for (const auto& [rank, epoch] : ranks) {
      const MetricSummary summary = summary_of(connection, run, name, rank);
      if (summary.count == 0) continue;
      write(connection, run,
            {.id = metric_id(connection, name), .rank = rank, .epoch = epoch, .summary = summary});
      break;
    }
  }
}

}  // namespace heddle::storage
