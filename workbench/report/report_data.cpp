#include "workbench/report/report_data.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "workbench/report/run_look.h"

namespace heddle::workbench {
namespace {

constexpr size_t kTimelines = 4;  // shown unless others are asked for
constexpr size_t kPoints = 600, kFewPoints = 200, kManyRuns = 20;
constexpr size_t kAlignedRows = 12;
constexpr const char* kCharted[] = {"loss", "validation_loss", "tokens_per_second"};

using Points = std::vector<std::pair<double, double>>;

/// From steps to another x: straight lines between known points.
Result<Points> read_axis(storage::Reader& reader, const storage::RunDetail& run,
                         const std::string& x, size_t points) {
  Points axis;
  if (std::ranges::find(run.axes, x) == run.axes.end()) return axis;
  const auto bins = reader.series(run.summary.id, x, run.ranks.front(), {}, points);
  if (!bins) return fail(bins);
  for (const storage::Bin& bin : *bins) {
    const auto step = static_cast<double>(bin.last_step);
    // A clock may jump backwards.
    const bool grows = axis.empty() || (bin.last > axis.back().second && step > axis.back().first);
    if (std::isfinite(bin.last) && grows) axis.emplace_back(step, bin.last);
  }
  return axis;
}

/// On the line through the two neighbours, also beyond the ends.
double place_along(const Points& axis, double step) {
  if (axis.size() == 1) return axis.front().second;
  const auto after = std::ranges::upper_bound(axis.begin() + 1, axis.end() - 1, step, {},
                                              &std::pair<double, double>::first);
  const auto& [low_step, low] = *std::prev(after);
  const auto& [high_step, high] = *after;
  return low + (step - low_step) / (high_step - low_step) * (high - low);
}

struct Curve {
  Points raw, smooth;
};

/// The average of every sample up to each of the curve's points.
Result<Points> smooth_curve(storage::Reader& reader, const storage::RunDetail& run,
                            const ReportChartQuery& of, const Points& raw) {
  Points smooth;
  Ema ema{.half_life = of.smoothing};
  const auto take = [&](std::span<const int64_t> steps, std::span<const double> values) {
    for (size_t i = 0; i < steps.size(); ++i) {
      const auto step = static_cast<double>(steps[i]);
      ema.take(step, values[i]);
      while (smooth.size() < raw.size() && raw[smooth.size()].first <= step)
        smooth.emplace_back(raw[smooth.size()].first, ema.average());
    }
  };
  const Result<> read = reader.each_sample(run.summary.id, of.metric, run.ranks.front(), {}, take);
  if (!read) return fail(read);
  return smooth;
}

Result<Curve> read_curve(storage::Reader& reader, const storage::RunDetail& run,
                         const ReportChartQuery& of, size_t points) {
  Curve curve;
  if (run.ranks.empty() || std::ranges::find(run.series, of.metric) == run.series.end())
    return curve;
  const auto bins = reader.series(run.summary.id, of.metric, run.ranks.front(), {}, points);
  if (!bins) return fail(bins);
  for (const storage::Bin& bin : *bins)
    if (std::isfinite(bin.mean))
      curve.raw.emplace_back(static_cast<double>(bin.last_step), bin.mean);
  if (of.smoothing > 0) {
    auto smooth = smooth_curve(reader, run, of, curve.raw);
    if (!smooth) return fail(smooth);
    curve.smooth = std::move(*smooth);
  }
  if (of.x.empty()) return curve;
  const auto axis = read_axis(reader, run, of.x, points);
  if (!axis) return fail(axis);
  if (axis->empty()) return Curve();
  for (Points* part : {&curve.raw, &curve.smooth})
    for (auto& [x, y] : *part) x = place_along(*axis, x);
  return curve;
}

/// Has a point at each curve's x, over the curves that reach it.
ReportBand band_of(const std::vector<const Points*>& curves) {
  std::set<double> places;
  for (const Points* curve : curves)
    for (const auto& [x, y] : *curve) places.insert(x);
  ReportBand band;
  const size_t every = places.size() / kPoints + 1;
  size_t at = 0;
  for (const double x : places) {
    if (at++ % every != 0) continue;
    double sum = 0, low = INFINITY, high = -INFINITY;
    int count = 0;
    for (const Points* curve : curves) {
      if (curve->empty() || x < curve->front().first || x > curve->back().first) continue;
      const double value = place_along(*curve, x);
      sum += value;
      low = std::min(low, value);
      high = std::max(high, value);
      ++count;
    }
    band.mean.emplace_back(x, sum / count);
    band.low.emplace_back(x, low);
    band.high.emplace_back(x, high);
  }
  return band;
}

/// Replaces the curves of grouped runs by their group's band.
void put_together(ReportChart& chart, const std::vector<std::string>& groups) {
  std::map<std::string, std::vector<size_t>> members;
  for (size_t run = 0; run < groups.size(); ++run)
    if (!groups[run].empty() && !chart.curves[run].empty()) members[groups[run]].push_back(run);
  for (const auto& [group, runs] : members) {
    std::vector<const Points*> curves;
    for (const size_t run : runs)
      curves.push_back(chart.smooth[run].empty() ? &chart.curves[run] : &chart.smooth[run]);
    ReportBand band = band_of(curves);
    band.group = group;
    band.first = runs.front();
    chart.bands.push_back(std::move(band));
    for (const size_t run : runs) {
      chart.curves[run].clear();
      chart.smooth[run].clear();
    }
  }
}

/// At the steps of both; the finer curve is taken at its last point before.
Points difference_of(const Points& curve, const Points& baseline) {
  Points difference;
  for (const auto& [x, y] : curve) {
    const auto after = std::ranges::upper_bound(baseline, x, {}, &std::pair<double, double>::first);
    if (after == baseline.begin() || (after == baseline.end() && baseline.back().first < x))
      continue;
    difference.emplace_back(x, y - std::prev(after)->second);
  }
  return difference;
}

std::vector<ReportChartQuery> usual_charts() {
  std::vector<ReportChartQuery> charts;
  for (const char* metric : kCharted) charts.push_back({.metric = metric});
  charts.insert(charts.begin() + 1, {.metric = kCharted[0], .difference = true});
  return charts;
}

Result<> read_charts(storage::Reader& reader, const std::vector<storage::RunDetail>& runs,
                     const ReportQuery& query, Report& report) {
  const size_t points = runs.size() > kManyRuns ? kFewPoints : kPoints;
  for (const ReportChartQuery& of : query.charts.empty() ? usual_charts() : query.charts) {
    ReportChart chart;
    chart.of = of;
    for (const storage::RunDetail& run : runs) {
      auto curve = read_curve(reader, run, of, points);
      if (!curve) return fail(curve);
      chart.curves.push_back(std::move(curve->raw));
      chart.smooth.push_back(std::move(curve->smooth));
    }
    for (std::vector<Points>* part : {&chart.curves, &chart.smooth}) {
      if (!of.difference) continue;
      const Points baseline = (*part)[report.baseline];
      for (size_t run = 0; run < part->size(); ++run)
        (*part)[run] = run == report.baseline ? Points() : difference_of((*part)[run], baseline);
    }
    if (of.grouped) put_together(chart, report.groups);
    if (!chart.bands.empty() || !std::ranges::all_of(chart.curves, &Points::empty))
      report.charts.push_back(std::move(chart));
  }
  return {};
}

Spent spent_of(const Side& side) {
  Spent spent;
  for (const Stretch& stretch : stretches_of(side.spans, side.step_us))
    spent[stretch.part] += stretch.end - stretch.begin;
  return spent;
}

ReportAlignment alignment_of(size_t left, size_t right, const Pair& pair) {
  const Alignment aligned = align(pair.left, pair.right);
  return {left, right, with_others(aligned.by(Grouping::bucket), kAlignedRows),
          with_others(aligned.by(Grouping::module), kAlignedRows),
          surprises(aligned, pair.left, pair.right)};
}

Result<> read_steps_of(storage::Reader& reader, const std::vector<storage::RunDetail>& runs,
                       const ReportQuery& query, Report& report) {
  std::set<storage::RunId> shown(query.timelines.begin(), query.timelines.end());
  for (size_t run = 0; run < runs.size() && query.timelines.empty() && shown.size() < kTimelines;
       ++run)
    shown.insert(runs[run].summary.id);
  std::map<size_t, RunSteps> all;
  for (size_t run = 0; run < runs.size(); ++run) {
    auto memory = read_peak_memory(reader, runs[run]);
    if (!memory) return fail(memory);
    report.memory.push_back(*memory);
    if (!shown.contains(runs[run].summary.id)) continue;
    auto steps = read_steps(reader, runs[run], query.step);
    if (!steps) return fail(steps);
    if (const auto measured = steps->measured.find(query.rank); measured != steps->measured.end())
      report.steps.push_back({run, steps->step, measured->second, spent_of(measured->second)});
    all.emplace(run, std::move(*steps));
  }
  const auto baseline = all.find(report.baseline);
  if (baseline == all.end()) return {};
  for (const auto& [run, steps] : all)
    if (run != report.baseline)
      if (const auto pair = usual_pair(baseline->second, steps, query.rank))
        report.alignments.push_back(alignment_of(report.baseline, run, *pair));
  return {};
}

}  // namespace

Result<Report> read_report(storage::Reader& reader, const ReportQuery& query) {
  Report report;
  report.rank = query.rank;
  report.colored_by = query.colored_by;
  report.made =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  auto comparison = reader.compare(query.runs);
  if (!comparison) return fail(comparison);
  report.comparison = std::move(*comparison);
  std::vector<storage::RunDetail> runs;
  for (const storage::RunId id : query.runs) {
    auto run = reader.run(id);
    if (!run) return fail(run);
    if (id == query.baseline) report.baseline = runs.size();
    const auto color = query.colors.find(id);
    report.colors.push_back(color == query.colors.end() ? run_color(run->summary, runs.size())
                                                        : color->second);
    const auto group = query.groups.find(id);
    if (!query.groups.empty())
      report.groups.push_back(group == query.groups.end() ? "" : group->second);
    runs.push_back(std::move(*run));
  }
  if (const auto read = read_charts(reader, runs, query, report); !read) return fail(read);
  if (const auto read = read_steps_of(reader, runs, query, report); !read) return fail(read);
  return report;
}

}  // namespace heddle::workbench
