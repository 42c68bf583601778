#include "gui/views/live/departure.h"

#include <algorithm>
#include <cmath>

#include "engine/telemetry/metrics.h"
#include "gui/models/value.h"

namespace heddle::gui {
namespace {

constexpr size_t kInARow = 3;
// The least that is allowed: steps differ among themselves, and where no prediction was checked
// nobody knows better.
constexpr double kMinTime = 0.1, kUnknownTime = 0.2, kMemory = 0.05;

}  // namespace

PredictedStep predictedStep(const storage::RunDetail& run) {
  const auto result = [&run](const char* name) { return resultOf(run, name).value_or(0); };
  return {result("predicted_step_seconds"), result("predicted_peak_bytes"),
          result("predicted_uncertain"), run.summary.lineage ? run.summary.lineage->step : 0};
}

void Departures::take(const std::vector<StepPoint>& points) {
  for (const StepPoint& point : points) {
    if (point.step > predicted_.after + telemetry::kWarmUpSteps) takeTime(point);
    takeMemory(point);
  }
}

/// 0 where nothing is predicted.
double Departures::shareOf(double seconds) const {
  return predicted_.seconds > 0 && std::isfinite(seconds) ? seconds / predicted_.seconds - 1 : 0;
}

double Departures::allowed() const {
  return predicted_.uncertain > 0 ? std::max(predicted_.uncertain, kMinTime) : kUnknownTime;
}

bool Departures::isLarge(double bytes) const {
  return !memory_ && predicted_.bytes > 0 && bytes / predicted_.bytes - 1 > kMemory;
}

void Departures::takeTime(const StepPoint& point) {
  if (time_ || std::isnan(point.stepSeconds)) return;
  const double share = shareOf(point.stepSeconds);
  if (std::abs(share) <= allowed()) return row_.clear();
  if (!row_.empty() && (row_.front().share > 0) != (share > 0)) row_.clear();
  row_.push_back({point.step, share, allowed()});
  if (row_.size() == kInARow) time_ = row_.front();
}

void Departures::takeMemory(const StepPoint& point) {
  if (isLarge(point.memoryBytes))
    memory_ = Departure{point.step, point.memoryBytes / predicted_.bytes - 1, kMemory};
}

}  // namespace heddle::gui
