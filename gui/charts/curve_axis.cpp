#include "gui/charts/curve_axis.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>

#include "gui/charts/curve_bins.h"
#include "storage/clock.h"
#include "storage/difference.h"

namespace heddle::gui {
namespace {

constexpr size_t kAxisPoints = 4096;

/// Unix seconds, by this machine's clock, of the run's first step: its times count from there.
Result<double> readBegin(storage::Reader& reader, const CurveRun& run) {
  const auto first = reader.steps_after(run.id, 0, 1);
  if (!first) return fail(first);
  if (first->empty() || first->front().step.time <= 0) return run.began;
  const auto detail = reader.run(run.id);
  if (!detail) return fail(detail);
  const auto ahead = detail->environment.find(storage::kClockAhead);
  const auto seconds =
      ahead == detail->environment.end() ? std::nullopt : storage::number_of(ahead->second);
  return first->front().step.time - seconds.value_or(0);
}

}  // namespace

Result<CurveAxis> CurveAxis::read(storage::Reader& reader, const CurveRun& run, ChartX x,
                                  const std::string& metric) {
  CurveAxis axis;
  axis.kind_ = x;
  axis.series_ = x == ChartX::metric ? metric : x == ChartX::tokens ? "tokens" : "time";
  if (const Result<> extended = axis.extend(reader, run); !extended) return fail(extended);
  return axis;
}

Result<> CurveAxis::extend(storage::Reader& reader, const CurveRun& run) {
  const bool isClock = kind_ == ChartX::clock;
  if (isStep() || (isClock && run.began <= 0)) return {};
  const storage::StepRange rest{seenSteps_.empty() ? 0
                                                   : static_cast<int64_t>(seenSteps_.back()) + 1};
  const auto read = readBins(reader, run, series_, kAllRanks, rest, kAxisPoints);
  if (!read) return fail(read);
  if (isClock && seenSteps_.empty()) {
    const auto began = readBegin(reader, run);
    if (!began) return fail(began);
    began_ = *began;
  }
  for (const storage::Bin& bin : read->bins)
    add(static_cast<double>(bin.last_step), bin.last + began_);
  if (!read->bins.empty()) chooseGrowing();
  return {};
}

void CurveAxis::add(double step, double x) {
  if (!std::isfinite(x) || (!seenSteps_.empty() && step <= seenSteps_.back())) return;
  seenSteps_.push_back(step);
  seenX_.push_back(x);
}

/// A clock may jump ahead or back: the longest subsequence with growing x leaves out the fewest
/// samples. Patience sorting: `ends[n]` is the smallest end of the subsequences of n + 1 samples.
void CurveAxis::chooseGrowing() {
  constexpr size_t kFirst = std::numeric_limits<size_t>::max();
  std::vector<size_t> ends, before(seenX_.size(), kFirst);
  for (size_t i = 0; i < seenX_.size(); ++i) {
    const auto at =
        std::ranges::lower_bound(ends, seenX_[i], {}, [this](size_t end) { return seenX_[end]; });
    if (at != ends.begin()) before[i] = *(at - 1);
    at == ends.end() ? ends.push_back(i) : void(*at = i);
  }
  std::vector<size_t> chosen;
  for (size_t i = ends.empty() ? kFirst : ends.back(); i != kFirst; i = before[i])
    chosen.push_back(i);
  std::ranges::reverse(chosen);
  steps_.clear();
  x_.clear();
  jumps_ = 0;
  size_t seen = 0;
  const auto countJumps = [&](size_t end, double high) {
    for (; seen < end; ++seen)
      jumps_ += seenX_[seen] > high || (!x_.empty() && seenX_[seen] < x_.back());
  };
  for (const size_t i : chosen) {
    countJumps(i, seenX_[i]);
    steps_.push_back(seenSteps_[i]);
    x_.push_back(seenX_[i]);
    ++seen;
  }
  countJumps(seenX_.size(), std::numeric_limits<double>::infinity());
}

bool CurveAxis::goesOnFrom(const CurveAxis& earlier) const {
  return earlier.steps_.size() <= steps_.size() &&
         std::ranges::equal(earlier.steps_, steps_ | std::views::take(earlier.steps_.size()));
}

double CurveAxis::between(const std::vector<double>& from, const std::vector<double>& to,
                          double at) {
  if (from.empty()) return std::numeric_limits<double>::quiet_NaN();
  if (from.size() == 1) return to.front();
  const auto above = std::upper_bound(from.begin() + 1, from.end() - 1, at) - from.begin();
  const auto i = static_cast<size_t>(above);
  const double share = (at - from[i - 1]) / (from[i] - from[i - 1]);
  return to[i - 1] + share * (to[i] - to[i - 1]);
}

}  // namespace heddle::gui
