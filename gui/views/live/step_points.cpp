#include "gui/views/live/step_points.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "gui/models/median.h"

namespace heddle::gui {
namespace {

constexpr size_t kMaxHeld = 64;  // a rank that is silent for longer does not hold the others back

std::optional<double> value(const storage::StepRow& row, const char* name) {
  const auto found = row.step.values.find(name);
  if (found == row.step.values.end()) return std::nullopt;
  return found->second;
}

}  // namespace

void StepPoints::add(const storage::StepRow& row, double now) {
  for (const auto& [name, newest] : row.step.values) {
    const auto at = latest_.find(name);
    if (at == latest_.end() || row.rank <= at->second.first) latest_[name] = {row.rank, newest};
  }
  const auto seconds = value(row, "step_seconds");
  if (seconds) stepSeconds_[row.rank] = *seconds;
  int64_t& newest = newestStep_[row.rank];
  newest = std::max(newest, row.step.step);
  if (row.step.step <= given_) return;

  Held& held = held_[row.step.step];
  StepPoint& point = held.point;
  point.step = row.step.step;
  point.time = std::max(point.time, row.step.time);
  if (held.ranks == 0) held.seen = now;
  ++held.ranks;
  for (const auto& [name, fold] : {std::pair("loss", &held.loss),
                                   {"tokens_per_second", &held.speed},
                                   {"resident_bytes", &held.bytes}})
    if (const auto reported = value(row, name)) fold->add(row.rank, *reported);
  // A step lasts until the slowest rank has ended it.
  if (seconds) raise(point.stepSeconds, *seconds);
  if (const auto exposed = value(row, "exposed_seconds"); exposed && seconds && *seconds > 0)
    held.exposed.add(row.rank, *exposed / *seconds);
}

StepPoint StepPoints::finished(const Held& held) {
  StepPoint point = held.point;
  point.hasLoss = !held.loss.empty();
  point.loss = held.loss.value();
  point.tokensPerSecond = held.speed.value();
  point.memoryBytes = held.bytes.value();
  point.exposedShare = held.exposed.value();
  return point;
}

std::vector<StepPoint> StepPoints::take(const std::vector<storage::StepRow>& rows, size_t ranks,
                                        bool ended, double now) {
  for (const storage::StepRow& row : rows) add(row, now);
  std::vector<StepPoint> points;
  while (!held_.empty()) {
    const auto first = held_.begin();
    if (!ended && first->second.ranks < ranks && held_.size() < kMaxHeld) break;
    points.push_back(finished(first->second));
    given_ = first->first;
    held_.erase(first);
  }
  return points;
}

void StepPoints::begin(const StepsBefore& before) {
  *this = {};
  constexpr int32_t kAnyRank =
      std::numeric_limits<int32_t>::max();  // later rows are of a lower one
  for (const auto& [name, value] : before.latest) latest_[name] = {kAnyRank, value};
}

std::optional<Lag> StepPoints::lag() const {
  if (held_.empty()) return std::nullopt;
  Lag lag{.ranks = {}, .step = held_.begin()->first, .since = held_.begin()->second.seen};
  for (const auto& [rank, newest] : newestStep_)
    if (newest < lag.step) lag.ranks.push_back(rank);
  return lag.ranks.empty() ? std::nullopt : std::optional(lag);
}

std::optional<double> StepPoints::latest(const std::string& metric) const {
  const auto at = latest_.find(metric);
  if (at == latest_.end()) return std::nullopt;
  return at->second.second;
}

std::optional<Straggler> findStraggler(const std::vector<double>& computeSeconds,
                                       const std::vector<int>& stages) {
  std::map<int, std::vector<size_t>> ofStage;
  for (size_t i = 0; i < computeSeconds.size(); ++i)
    ofStage[stages.empty() ? 0 : stages[i]].push_back(i);
  std::optional<Straggler> worst;
  // The slowest rank of a stage is furthest behind the others: no other is checked.
  for (const auto& [stage, ranks] : ofStage) {
    const size_t slowest =
        *std::ranges::max_element(ranks, {}, [&](size_t rank) { return computeSeconds[rank]; });
    std::vector<double> others;
    for (const size_t rank : ranks)
      if (rank != slowest) others.push_back(computeSeconds[rank]);
    if (others.empty()) continue;
    const double typical = median(std::move(others));
    const double behind = computeSeconds[slowest] - typical;
    if (computeSeconds[slowest] <= typical * 1.05 || (worst && behind <= worst->behind)) continue;
    worst = Straggler{slowest, behind};
  }
  return worst;
}

}  // namespace heddle::gui
