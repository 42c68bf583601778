// A chart's x over a run's steps: tokens, seconds, times of day, a metric. Plain data; on the
// session's reading thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "gui/charts/curve_data.h"
#include "storage/queries.h"

namespace heddle::gui {

/// From steps to the chart's x and back: straight lines between known points.
class CurveAxis {
 public:
  static Result<CurveAxis> read(storage::Reader& reader, const CurveRun& run, ChartX x,
                                const std::string& metric = {});
  /// Reads on after its last point.
  Result<> extend(storage::Reader& reader, const CurveRun& run);

  /// NaN: the run has no such x.
  double at(double step) const { return isStep() ? step : between(steps_, x_, step); }
  double stepAt(double x) const { return isStep() ? x : between(x_, steps_, x); }
  bool exists() const { return isStep() || !steps_.empty(); }
  /// Samples whose x is not between their neighbours', which then place them.
  int64_t jumps() const { return jumps_; }
  /// Whether the earlier axis' steps have the same x.
  bool goesOnFrom(const CurveAxis& earlier) const;

 private:
  bool isStep() const { return kind_ == ChartX::step; }
  void add(double step, double x);
  void chooseGrowing();
  static double between(const std::vector<double>& from, const std::vector<double>& to, double at);

  ChartX kind_ = ChartX::step;
  std::string series_;                     // as the store names it
  double began_ = 0;                       // Unix seconds of the first step, for ChartX::clock
  std::vector<double> seenSteps_, seenX_;  // all samples
  std::vector<double> steps_, x_;          // the longest subsequence with growing x
  int64_t jumps_ = 0;
};

}  // namespace heddle::gui
