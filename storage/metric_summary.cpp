#include "storage/metric_summary.h"

#include <cmath>

namespace heddle::storage {

void add(MetricSummary& summary, int64_t step, double value) {
  ++summary.count;
  summary.last = value;
  summary.last_step = step;
  if (!std::isfinite(value)) {
    ++summary.nonfinite;
    return;
  }
  const auto finite = static_cast<double>(summary.count - summary.nonfinite);
  if (finite == 1) {
    summary.min = summary.max = summary.mean = value;
    summary.min_step = summary.max_step = step;
    return;
  }
  summary.mean += value / finite - summary.mean / finite;  // no sum that could overflow
  if (value < summary.min) {
    summary.min = value;
    summary.min_step = step;
  }
  if (value > summary.max) {
    summary.max = value;
    summary.max_step = step;
  }
}

}  // namespace heddle::storage
