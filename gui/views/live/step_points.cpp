#include "gui/views/live/step_points.h"

#include <algorithm>
#include <cmath>

namespace heddle::gui {
namespace {

constexpr size_t kRecent = 20;
constexpr size_t kMostHeld = 64;  // a rank that is silent for longer does not hold the others back

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::optional<double> value(const storage::StepRow& row, const char* name) {
  const auto found = row.step.values.find(name);
  if (found == row.step.values.end()) return std::nullopt;
  return found->second;
}

void raise(double& highest, double value) {
  if (std::isnan(highest) || value > highest) highest = value;
}

void accumulate(double& sum, double value) { sum = std::isnan(sum) ? value : sum + value; }

}  // namespace

void StepPoints::add(const storage::StepRow& row) {
  for (const auto& [name, newest] : row.step.values) {
    const auto at = latest_.find(name);
    if (at == latest_.end() || row.rank <= at->second.first) latest_[name] = {row.rank, newest};
  }
  const auto seconds = value(row, "step_seconds");
  if (seconds) stepSeconds_[row.rank] = *seconds;
  if (row.step.step <= given_) return;

  Held& held = held_[row.step.step];
  StepPoint& point = held.point;
  point.step = row.step.step;
  point.time = std::max(point.time, row.step.time);
  ++held.ranks;
  if (const auto loss = value(row, "loss"); loss && (!point.hasLoss || row.rank < held.lossRank)) {
    point.loss = *loss;
    point.hasLoss = true;
    held.lossRank = row.rank;
  }
  if (const auto speed = value(row, "tokens_per_second")) {
    accumulate(point.tokensPerSecond, *speed);
    ++held.speedRanks;
  }
  if (const auto bytes = value(row, "resident_bytes")) raise(point.memoryBytes, *bytes);
  if (seconds) raise(point.stepSeconds, *seconds);
  if (const auto exposed = value(row, "exposed_seconds"); exposed && seconds && *seconds > 0) {
    accumulate(point.exposedShare, *exposed / *seconds);
    ++held.exposedRanks;
  }
}

StepPoint StepPoints::finished(const Held& held) {
  StepPoint point = held.point;
  if (held.speedRanks > 0) point.tokensPerSecond /= static_cast<double>(held.speedRanks);
  if (held.exposedRanks > 0) point.exposedShare /= static_cast<double>(held.exposedRanks);
  return point;
}

std::vector<StepPoint> StepPoints::take(const std::vector<storage::StepRow>& rows, size_t ranks,
                                        bool ended) {
  for (const storage::StepRow& row : rows) add(row);
  std::vector<StepPoint> points;
  while (!held_.empty()) {
    const auto first = held_.begin();
    if (!ended && first->second.ranks < ranks && held_.size() < kMostHeld) break;
    points.push_back(finished(first->second));
    given_ = first->first;
    if (std::isfinite(points.back().stepSeconds))
      recentSeconds_.push_back(points.back().stepSeconds);
    held_.erase(first);
  }
  if (recentSeconds_.size() > kRecent) {
    recentSeconds_.erase(recentSeconds_.begin(), recentSeconds_.end() - kRecent);
  }
  return points;
}

std::optional<double> StepPoints::latest(const std::string& metric) const {
  const auto at = latest_.find(metric);
  if (at == latest_.end()) return std::nullopt;
  return at->second.second;
}

double StepPoints::typicalStepSeconds() const {
  return recentSeconds_.empty() ? 0 : median(recentSeconds_);
}

std::optional<Straggler> findStraggler(const std::vector<double>& computeSeconds) {
  if (computeSeconds.size() < 2) return std::nullopt;
  const auto slowest = std::max_element(computeSeconds.begin(), computeSeconds.end());
  std::vector<double> others(computeSeconds.begin(), slowest);
  others.insert(others.end(), slowest + 1, computeSeconds.end());
  const double typical = median(std::move(others));
  if (*slowest <= typical * 1.05) return std::nullopt;
  return Straggler{static_cast<size_t>(slowest - computeSeconds.begin()), *slowest - typical};
}

}  // namespace heddle::gui
