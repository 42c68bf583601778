// A run's numbers to compare, and each as its difference from another run's: how much, in words,
// and whether that is better. The window, the shell and reports have it from here.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "storage/metric_summary.h"
#include "storage/run.h"

namespace heddle::storage {

/// A number, or words that are one ("300", "1_000", "3e-4").
std::optional<double> number_of(const Value& value);

struct Difference {
  double amount = 0;               // minus the baseline's; 0: the same when written out
  std::optional<double> relative;  // to the size of the baseline's; none: that is 0
  int better = 0;                  // 1 better, -1 worse, 0 the same or neither way is better

  /// 0 to 1: how much colour the difference deserves. A quarter of the baseline gets all of it.
  double heat() const;
};

/// None where one of the two is no finite number.
std::optional<Difference> difference_of(const std::string& key,
                                        const std::optional<Value>& baseline,
                                        const std::optional<Value>& value);

/// With its sign and unit: "+1.90 GiB"; rates in percent of the baseline's, shares in points.
std::string difference_text(const std::string& key, const Difference& difference);

/// Puts the metrics' last values among a run's results, and the best where the store knows which
/// way is better. More metrics of other programs than kMaxOtherMetrics are left out; how many.
inline constexpr size_t kMaxOtherMetrics = 100;
size_t add_metrics(Values& results, const std::map<std::string, MetricSummary>& metrics);

}  // namespace heddle::storage
