#include "workbench/halving.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

#include "base/number_text.h"
#include "engine/telemetry/metrics.h"

namespace heddle::workbench {
namespace {

constexpr const char* kHalvingForm = "METRIC:KEEP or METRIC:KEEP@STEP,STEP, as in loss:1@100,200";

std::optional<int64_t> positive(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1) return std::nullopt;
  return number;
}

bool can_halve(const telemetry::Metric& metric) {
  return metric.reporter == telemetry::Reporter::step &&
         metric.better != telemetry::Better::neither;
}

std::string metrics_to_halve_by() {
  std::string names;
  for (const telemetry::Metric& metric : telemetry::metrics())
    if (can_halve(metric)) names += (names.empty() ? "" : ", ") + std::string(metric.name);
  return names;
}

int64_t half_of(int64_t runs) { return (runs + 1) / 2; }

bool is_better(telemetry::Better direction, double a, double b) {
  if (std::isnan(a)) return false;
  if (std::isnan(b)) return true;
  return direction == telemetry::Better::less ? a < b : a > b;
}

/// How many others did better; of equals the earlier run did.
int64_t better_than(const Contender& run, int64_t step, telemetry::Better direction,
                    const std::vector<Contender>& all) {
  const double own = run.values.at(step);
  return std::ranges::count_if(all, [&](const Contender& other) {
    const double value = other.values.at(step);
    if (is_better(direction, value, own)) return true;
    return !is_better(direction, own, value) && other.run < run.run;
  });
}

std::string words_of_decision(const storage::Halving& halving, const storage::Rung& rung, bool stop,
                              double value, int64_t place, int64_t all) {
  const std::string shown =
      std::isnan(value) ? "not finite" : telemetry::value_text(halving.metric, value, 1);
  return fmt::format(
      "halving at step {}: {}: {} {}, number {} of {} so far; {} on", rung.step,
      stop ? "stopped" : "goes on", telemetry::words_of(halving.metric), shown, place, all,
      rung.keep == 1 ? "the best one goes" : fmt::format("the best {} go", rung.keep));
}

}  // namespace

Result<HalvingWish> read_halving(const std::string& text) {
  const size_t colon = text.rfind(':');
  const size_t at = text.find('@', colon == text.npos ? 0 : colon);
  HalvingWish wish{.metric = text.substr(0, colon)};
  const auto keep = colon == text.npos
                        ? std::nullopt
                        : positive(std::string_view(text).substr(
                              colon + 1, at == text.npos ? text.npos : at - colon - 1));
  if (wish.metric.empty() || !keep) return fail("--halving {}: valid: {}", text, kHalvingForm);
  wish.keep = *keep;
  const telemetry::Metric& metric = telemetry::metric(wish.metric);
  if (metric.name.empty() || !can_halve(metric))
    return fail("--halving {}: {} is no metric of a step that has a better direction; valid: {}",
                text, wish.metric, metrics_to_halve_by());
  std::string_view rest =
      at == text.npos ? std::string_view() : std::string_view(text).substr(at + 1);
  for (bool more = at != text.npos; more;) {
    const size_t comma = rest.find(',');
    const auto step = positive(rest.substr(0, comma));
    if (!step || (!wish.steps.empty() && *step <= wish.steps.back()))
      return fail("--halving {}: the steps are whole numbers that rise; valid: {}", text,
                  kHalvingForm);
    wish.steps.push_back(*step);
    more = comma != rest.npos;
    if (more) rest.remove_prefix(comma + 1);
  }
  return wish;
}

Result<storage::Halving> plan_halving(const HalvingWish& wish, int64_t runs, int64_t steps) {
  if (wish.keep >= runs)
    return fail("--halving: {} of {} runs would go on, and none is stopped; valid: 1 to {}",
                wish.keep, runs, runs - 1);
  std::vector<int64_t> at = wish.steps;
  if (at.empty()) {
    int64_t step = steps;
    for (int64_t left = runs; left > wish.keep; left = half_of(left))
      at.insert(at.begin(), step /= 2);
    if (at.front() < 1 || std::ranges::adjacent_find(at) != at.end())
      return fail(
          "--halving: {} runs of {} steps cannot be halved so often; valid: more steps, or "
          "@STEP,STEP",
          runs, steps);
  }
  if (at.back() >= steps)
    return fail("--halving: step {} is not before the runs' end; valid: 1 to {}", at.back(),
                steps - 1);
  storage::Halving halving{.metric = wish.metric};
  int64_t left = runs;
  for (const int64_t step : at) {
    left = std::max(wish.keep, half_of(left));
    halving.rungs.push_back({step, left});
  }
  return halving;
}

std::string words_of(const storage::Halving& halving) {
  std::string words;
  for (const storage::Rung& rung : halving.rungs)
    words += fmt::format("{}after step {} the best {}{}", words.empty() ? "" : ", ",
                         count_text(static_cast<double>(rung.step)), rung.keep,
                         words.empty() ? " go on" : "");
  return words + ", by " + telemetry::words_of(halving.metric);
}

std::vector<RungDecision> decide(const storage::Halving& halving,
                                 const std::vector<Contender>& contenders) {
  const telemetry::Better direction = telemetry::metric(halving.metric).better;
  std::vector<RungDecision> decisions;
  std::vector<Contender> left = contenders;
  for (const storage::Rung& rung : halving.rungs) {
    // A run that did not get here, or not past the previous rung, is not compared.
    std::erase_if(left, [&](const Contender& run) { return !run.values.contains(rung.step); });
    std::set<storage::RunId> out;
    for (const Contender& run : left) {
      const double value = run.values.at(rung.step);
      const int64_t better = better_than(run, rung.step, direction, left);
      const bool stop = better >= rung.keep || std::isnan(value);
      if (stop) out.insert(run.run);
      if (run.going)
        decisions.push_back({run.run, rung.step, stop,
                             words_of_decision(halving, rung, stop, value, better + 1,
                                               static_cast<int64_t>(left.size()))});
    }
    std::erase_if(left, [&](const Contender& run) { return out.contains(run.run); });
  }
  return decisions;
}

}  // namespace heddle::workbench
