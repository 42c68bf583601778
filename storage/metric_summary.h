// The values of one metric of one run in a few numbers: what lists and tables of runs show of it.
#pragma once

#include <cstdint>
#include <limits>

namespace heddle::storage {

/// The samples of one series of a run, as its chart has them: of the lowest rank that reports it,
/// each step once, from the newest attempt (epoch) that has it. Kept at ingestion, so that it is as
/// new as the run's last samples.
struct MetricSummary {
  int64_t count = 0;
  int64_t nonfinite = 0;  // NaN or infinite
  double last = std::numeric_limits<double>::quiet_NaN();
  // Without values that are not finite; NaN, and steps 0, where nothing is.
  double min = std::numeric_limits<double>::quiet_NaN();
  double max = std::numeric_limits<double>::quiet_NaN();
  double mean = std::numeric_limits<double>::quiet_NaN();
  int64_t last_step = 0;
  int64_t min_step = 0;  // the first with that value
  int64_t max_step = 0;
};

/// Takes in the next sample of the series.
void add(MetricSummary& summary, int64_t step, double value);

}  // namespace heddle::storage
