#include "engine/telemetry/step_averages.h"

#include <algorithm>

namespace heddle::telemetry {
namespace {

double upper_median(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

}  // namespace

void StepAverages::add(const std::string& name, std::span<const double> values) {
  const Average how = metric(name).over_steps;
  if (how == Average::none || values.empty()) return;
  std::vector<double>& kept = values_[name];
  if (how == Average::last)
    kept = {values.back()};
  else
    kept.insert(kept.end(), values.begin(), values.end());
}

std::span<const double> StepAverages::counted(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return {};
  const std::span<const double> values = found->second;
  const auto warm_up = static_cast<size_t>(metric(name).warm_up);
  return values.size() > warm_up ? values.subspan(warm_up) : values;
}

std::optional<double> StepAverages::average(const std::string& name) const {
  const std::span<const double> values = counted(name);
  if (values.empty()) return std::nullopt;
  return metric(name).over_steps == Average::last ? values.back() : upper_median(values);
}

}  // namespace heddle::telemetry
