// Steps as the charts show them: one point for all ranks. Plain data.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/telemetry/metrics.h"
#include "gui/models/run_pace.h"

namespace heddle::gui {

/// The ranks' values as one (telemetry::Metric::over_ranks); NaN where no rank reported the metric.
struct StepPoint {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  int64_t step = 0;
  double time = 0;  // Unix seconds, of the last rank
  double loss = kNone;
  double tokensPerSecond = kNone;
  double memoryBytes = kNone;
  double stepSeconds = kNone;   // of the slowest rank
  double exposedShare = kNone;  // of the step; profiled steps only
  bool hasLoss = false;         // reported, be it NaN
};

/// The steps before the newest ones, in sum.
struct StepsBefore {
  std::map<std::string, double> latest;  // each metric's newest value, of the lowest rank
  int64_t profiled = 0;                  // so many steps
  std::vector<double> exposedShares;     // of some of these
};

/// Takes on a value that is larger, or the first.
inline void raise(double& highest, double value) {
  if (std::isnan(highest) || value > highest) highest = value;
}

/// Ranks that have not ended a step that others have.
struct Lag {
  std::vector<int32_t> ranks;
  int64_t step = 0;
  double since = 0;  // when the first of the others was seen to have ended it, as `now` of take()
};

/// Puts the ranks' records of a step together. Records come in rank by rank: a step is given out
/// once all ranks have reported it, and steps are given out in order.
class StepPoints {
 public:
  /// `ranks`: how many report; `ended`: no more will come, so what is held back is given out.
  /// `now` is the reader's clock: hosts have others.
  std::vector<StepPoint> take(const std::vector<storage::StepRow>& rows, size_t ranks, bool ended,
                              double now = 0);
  std::optional<Lag> lag() const;
  /// Begins after these steps.
  void begin(const StepsBefore& before);

  /// The newest value of a metric, from the lowest rank that reports it.
  std::optional<double> latest(const std::string& metric) const;
  /// Seconds of the newest step by rank.
  const std::map<int32_t, double>& stepSecondsByRank() const { return stepSeconds_; }

 private:
  struct Held {
    StepPoint point;
    telemetry::RankFold loss{telemetry::metric("loss")};
    telemetry::RankFold speed{telemetry::metric("tokens_per_second")};
    telemetry::RankFold bytes{telemetry::metric("resident_bytes")};
    telemetry::RankFold exposed{telemetry::metric("exposed_seconds")};  // shares of the step
    size_t ranks = 0;
    double seen = 0;
  };
  void add(const storage::StepRow& row, double now);
  static StepPoint finished(const Held& held);

  std::map<int64_t, Held> held_;
  std::map<std::string, std::pair<int32_t, double>> latest_;
  std::map<int32_t, double> stepSeconds_;
  std::map<int32_t, int64_t> newestStep_;
  int64_t given_ = 0;
};

/// A rank that computes more than 5 % longer than the median of the others of its pipeline stage:
/// stages compute different things.
struct Straggler {
  size_t index = 0;
  double behind = 0;  // seconds
};
/// `stages`: of each rank; empty: all are of one.
std::optional<Straggler> findStraggler(const std::vector<double>& computeSeconds,
                                       const std::vector<int>& stages = {});

}  // namespace heddle::gui
