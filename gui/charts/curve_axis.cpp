#include "gui/charts/curve_axis.h"

#include <algorithm>
#include <cmath>
#include <limits>

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

Result<CurveAxis> CurveAxis::read(storage::Reader& reader, const CurveRun& run, ChartX x) {
  CurveAxis axis;
  axis.kind_ = x;
  if (const Result<> extended = axis.extend(reader, run); !extended) return fail(extended);
  return axis;
}

Result<> CurveAxis::extend(storage::Reader& reader, const CurveRun& run) {
  const bool isClock = kind_ == ChartX::clock;
  if (isStep() || (isClock && run.began <= 0)) return {};
  const storage::StepRange rest{steps_.empty() ? 0 : static_cast<int64_t>(steps_.back()) + 1};
  const auto read = readBins(reader, run, kind_ == ChartX::tokens ? "tokens" : "time", kAllRanks,
                             rest, kAxisPoints);
  if (!read) return fail(read);
  if (isClock && steps_.empty()) {
    const auto began = readBegin(reader, run);
    if (!began) return fail(began);
    began_ = *began;
  }
  for (const storage::Bin& bin : read->bins)
    add(static_cast<double>(bin.last_step), bin.last + began_);
  return {};
}

/// A clock may jump back: x that does not grow is left out.
void CurveAxis::add(double step, double x) {
  if (!std::isfinite(x) || (!x_.empty() && (x <= x_.back() || step <= steps_.back()))) return;
  steps_.push_back(step);
  x_.push_back(x);
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
