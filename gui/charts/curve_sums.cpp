#include "gui/charts/curve_sums.h"

#include <algorithm>
#include <cmath>

namespace heddle::gui {
namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

/// Some of the values, evenly, with the first and the last.
std::vector<double> evenly(const std::vector<double>& values, size_t points) {
  if (values.size() <= points || points < 2) return values;
  std::vector<double> some;
  for (size_t i = 0; i < points; ++i)
    some.push_back(values[i * (values.size() - 1) / (points - 1)]);
  return some;
}

}  // namespace

double valueAt(const Series& curve, double x) {
  const auto at = curve.x(), y = curve.y();
  if (at.empty() || !(x >= at.front() && x <= at.back())) return kNoValue;
  const auto i = static_cast<size_t>(std::ranges::lower_bound(at, x) - at.begin());
  if (at[i] == x) return y[i];
  const double share = (x - at[i - 1]) / (at[i] - at[i - 1]);
  return y[i - 1] + share * (y[i] - y[i - 1]);
}

Band bandOf(const std::vector<const Series*>& curves, size_t points) {
  std::vector<double> all;
  for (const Series* curve : curves) {
    const auto x = curve->x();
    const auto middle = static_cast<ptrdiff_t>(all.size());
    all.insert(all.end(), x.begin(), x.end());
    std::ranges::inplace_merge(all, all.begin() + middle);
    const auto repeated = std::ranges::unique(all);
    all.erase(repeated.begin(), repeated.end());
  }
  Band band;
  for (const double x : evenly(all, points)) {
    Range range;
    double sum = 0;
    int members = 0;
    for (const Series* curve : curves) {
      const double value = valueAt(*curve, x);
      if (!std::isfinite(value)) continue;
      range.include(value);
      sum += value;
      ++members;
    }
    if (members > 0)
      band.range.append(x, std::clamp(sum / members, range.low, range.high), range.low, range.high);
    else
      band.range.append(x, kNoValue);
    band.members.push_back(members);
  }
  return band;
}

Series differenceOf(const Series& curve, const Series& baseline) {
  Series difference;
  const auto x = curve.x(), y = curve.y();
  if (baseline.empty()) return difference;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] < baseline.x().front() || x[i] > baseline.x().back()) continue;
    difference.append(x[i], y[i] - valueAt(baseline, x[i]));
  }
  return difference;
}

}  // namespace heddle::gui
