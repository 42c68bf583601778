// A rank's values of the steps of a run, and their averages as the table of metrics says.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/telemetry/metrics.h"

namespace heddle::telemetry {

class StepAverages {
 public:
  /// Values of the next steps. Metrics without an average are not kept.
  void add(const std::string& name, std::span<const double> values);
  void add(const std::string& name, double value) { add(name, std::span(&value, 1)); }

  /// The metric's values without its warm-up; all of them if there are no more.
  std::span<const double> counted(const std::string& name) const;
  /// Nullopt of a metric without a value. The median is the larger one of two in the middle.
  std::optional<double> average(const std::string& name) const;

 private:
  std::map<std::string, std::vector<double>, std::less<>> values_;
};

}  // namespace heddle::telemetry
