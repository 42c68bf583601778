// Measurements that something disturbed must not decide a plan.
#pragma once

#include <vector>

#include "engine/cost/calibration.h"

namespace heddle::cost {

/// Each number as the median of it and its two neighbours; the ends stay, and what rises or falls
/// steadily (Tukey, Exploratory Data Analysis, 1977, chapter 7: running medians of three).
std::vector<double> running_median(const std::vector<double>& numbers);

/// Without times that stand out from their neighbours': a transfer alone is judged by its seconds a
/// byte; a transfer next to compute, and the compute lost, by their shares of that.
CollectiveTimes smooth(const CollectiveTimes& measured);

}  // namespace heddle::cost
