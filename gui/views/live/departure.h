// The first step whose time or memory leaves what was predicted. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gui/views/live/step_points.h"
#include "storage/run.h"

namespace heddle::gui {

/// A run's prediction; 0: not predicted.
struct PredictedStep {
  double seconds = 0;
  double bytes = 0;      // at the peak of the rank that needs most
  double uncertain = 0;  // the share by which such predictions have been wrong; 0: not known
  int64_t after = 0;     // the step that a resumed run goes on from
  bool operator==(const PredictedStep&) const = default;
};
PredictedStep predictedStep(const storage::RunDetail& run);

/// How far a step is from it.
struct Departure {
  int64_t step = 0;
  double share = 0;    // 0.31: so much more than predicted; below 0: less
  double allowed = 0;  // what was still taken for the prediction
};

/// Takes a run's points in order. A single slow step is none: time leaves with the first of three
/// in a row that are off to the same side. Memory that stays below is no departure.
class Departures {
 public:
  explicit Departures(PredictedStep predicted = {}) : predicted_(predicted) {}
  void take(const std::vector<StepPoint>& points);
  /// Leaves out steps none of which is off.
  void skip() { row_.clear(); }

  bool isSlow(double seconds) const { return !time_ && shareOf(seconds) > allowed(); }
  bool isQuick(double seconds) const { return !time_ && shareOf(seconds) < -allowed(); }
  bool isLarge(double bytes) const;
  /// The last steps were off, but not enough of them.
  bool isInRow() const { return !row_.empty(); }

  const PredictedStep& predicted() const { return predicted_; }
  const std::optional<Departure>& time() const { return time_; }
  const std::optional<Departure>& memory() const { return memory_; }

 private:
  void takeTime(const StepPoint& point);
  void takeMemory(const StepPoint& point);
  double shareOf(double seconds) const;
  double allowed() const;

  PredictedStep predicted_;
  std::vector<Departure> row_;  // steps in a row that are off, until there are enough
  std::optional<Departure> time_, memory_;
};

}  // namespace heddle::gui
