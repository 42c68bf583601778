// All that a report shows of the compared runs, read from the store. Plain data.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ema.h"
#include "base/result.h"
#include "storage/queries.h"
#include "workbench/run_steps.h"

namespace heddle::workbench {

/// A requested chart.
struct ReportChartQuery {
  std::string metric;
  std::string x = {};       // a series, also "tokens" or "time" (storage::Reader); empty: the step
  bool difference = false;  // from the baseline
  bool grouped = true;      // runs of one group as their mean and range
  double smoothing = Ema::kUsualHalfLife;  // the half-life in steps; 0: none
  bool operator==(const ReportChartQuery&) const = default;
};

struct ReportQuery {
  std::vector<storage::RunId> runs = {};
  storage::RunId baseline = 0;                        // 0: the first run
  std::vector<storage::RunId> timelines = {};         // empty: the first few
  int64_t rank = 0;                                   // whose timelines
  int64_t step = 0;                                   // 0: each run's newest profiled one
  std::vector<ReportChartQuery> charts = {};          // empty: the usual ones
  std::map<storage::RunId, std::string> colors = {};  // "#rrggbb"; others have the palette's
  std::string colored_by = {};                        // the key behind the colours; empty: none
  std::map<storage::RunId, std::string> groups = {};  // group names
};

/// A group's mean and range.
struct ReportBand {
  std::string group;
  size_t first = 0;  // the run that gives it its colour
  std::vector<std::pair<double, double>> mean, low, high;
};

/// One metric of all runs.
struct ReportChart {
  ReportChartQuery of;  // differences are taken at the x that both runs have
  std::vector<std::vector<std::pair<double, double>>> curves;  // an entry a run; may be empty
  // At the curves' x, of every sample; empty without smoothing.
  std::vector<std::vector<std::pair<double, double>>> smooth;
  std::vector<ReportBand> bands;  // their runs' curves are empty
};

/// A measured step of one rank.
struct ReportStep {
  size_t run = 0;
  int64_t step = 0;
  Side side;
  Spent spent;
};

/// The steps of the baseline and another run, laid side by side.
struct ReportAlignment {
  size_t left = 0, right = 0;         // runs
  std::vector<Row> buckets, modules;  // the largest differences first, the rest put together
  std::vector<Surprise> surprises;
};

struct Report {
  storage::Comparison comparison;
  size_t baseline = 0;
  std::vector<std::string> colors;  // an entry a run
  std::string colored_by;
  std::vector<std::string> groups;  // one per run, empty: in none; no entries: not grouped
  std::vector<ReportChart> charts;
  std::vector<PeakMemory> memory;  // an entry a run
  int64_t rank = 0;
  std::vector<ReportStep> steps;
  std::vector<ReportAlignment> alignments;
  double made = 0;  // Unix seconds
};

Result<Report> read_report(storage::Reader& reader, const ReportQuery& query);

}  // namespace heddle::workbench
