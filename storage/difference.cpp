#include "storage/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string_view>

#include "engine/telemetry/metrics.h"
#include "storage/queries.h"

namespace heddle::storage {
namespace {

constexpr double kFullHeat = 0.25;  // of the baseline
constexpr double kMinHeat = 0.12;   // of the colour

std::optional<double> finite_number_of(const std::optional<Value>& value) {
  const auto found = value ? number_of(*value) : std::nullopt;
  return found && std::isfinite(*found) ? found : std::nullopt;
}

}  // namespace

std::optional<double> number_of(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  std::string_view text = std::get<std::string>(value);
  std::string bare;
  if (text.find('_') != std::string_view::npos) {  // TOML allows it
    std::ranges::remove_copy(text, std::back_inserter(bare), '_');
    text = bare;
  }
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return {};
  return number;
}

double Difference::heat() const {
  if (better == 0) return 0;
  const double share = relative ? std::abs(*relative) / kFullHeat : 1;
  return std::clamp(std::sqrt(share), kMinHeat, 1.0);
}

std::optional<Difference> difference_of(const std::string& key,
                                        const std::optional<Value>& baseline,
                                        const std::optional<Value>& value) {
  const auto from = finite_number_of(baseline), to = finite_number_of(value);
  if (!from || !to) return std::nullopt;
  Difference difference;
  if (!same(baseline, value)) difference.amount = *to - *from;
  if (*from != 0) difference.relative = difference.amount / std::abs(*from);
  if (difference.amount != 0)
    difference.better =
        static_cast<int>(telemetry::metric(key).better) * (difference.amount > 0 ? 1 : -1);
  return difference;
}

std::string difference_text(const std::string& key, const Difference& difference) {
  if (difference.amount == 0) return "0";
  const Unit unit = telemetry::metric(key).unit;
  const double size = std::abs(difference.amount);
  const std::string text = unit == Unit::tokens_per_second && difference.relative
                               ? share_text(std::abs(*difference.relative))
                           : unit == Unit::share ? fmt::format("{:.1f} points", size * 100)
                                                 : unit_text(unit, size);
  return (difference.amount < 0 ? "−" : "+") + text;
}

size_t add_metrics(Values& results, const std::map<std::string, MetricSummary>& metrics) {
  size_t others = 0;
  for (const auto& [name, summary] : metrics) others += telemetry::metric(name).name.empty();
  const bool too_many = others > kMaxOtherMetrics;
  for (const auto& [name, summary] : metrics) {
    const telemetry::Metric& metric = telemetry::metric(name);
    if (summary.count == 0 || (too_many && metric.name.empty())) continue;
    // A median has been taken already, as the run's result.
    if (metric.over_steps != telemetry::Average::median) results.emplace(name, summary.last);
    const telemetry::Metric& best = telemetry::metric("best_" + name);
    if (best.name.empty() || !std::isfinite(summary.min)) continue;
    results.emplace(best.name, best.better == telemetry::Better::less ? summary.min : summary.max);
  }
  return too_many ? others : 0;
}

}  // namespace heddle::storage
