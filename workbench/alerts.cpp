#include "workbench/alerts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/number_text.h"

namespace heddle::workbench {
namespace {

constexpr size_t kLosses = 64, kFewLosses = 16;
constexpr size_t kRates = 1024, kFewRates = 32, kRecentRates = 8;
constexpr size_t kSeconds = 64;
constexpr int kCalm = 16;  // steps
/// Deviations that are smaller, as a share of the median, are not what makes a spike.
constexpr double kMinDeviation = 0.01;
/// How many usual steps without a step are a silence.
constexpr double kUsualSteps = 10;
/// Capture, tokenizing and loading come before the first step.
constexpr double kBeforeFirst = 900;  // seconds
/// The median absolute deviation times this is the standard deviation of a normal distribution.
constexpr double kNormal = 1.4826;

constexpr std::string_view kAlert = "alert, ", kOver = "over, ";

constexpr std::array kNames{
    std::pair(AlertKind::not_finite, "loss not finite"),
    std::pair(AlertKind::spike, "loss spike"),
    std::pair(AlertKind::slower, "throughput fell"),
    std::pair(AlertKind::memory, "memory near the limit"),
    std::pair(AlertKind::silence, "no step"),
};

double middle_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double middle_of(const std::deque<double>& values) {
  return middle_of(std::vector<double>(values.begin(), values.end()));
}

double deviation_of(const std::deque<double>& values, double median) {
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - median));
  return std::max(kNormal * middle_of(std::move(distances)), kMinDeviation * std::abs(median));
}

void keep(std::deque<double>& values, double value, size_t most) {
  values.push_back(value);
  if (values.size() > most) values.pop_front();
}

std::string step_words(int64_t step) { return "step " + count_text(static_cast<double>(step)); }

}  // namespace

std::string name_of(AlertKind kind) {
  for (const auto& [each, name] : kNames)
    if (each == kind) return name;
  return {};
}

storage::LogLine line_of(const Alert& alert) {
  storage::LogLine line;
  line.level = alert.over ? telemetry::Level::info : telemetry::Level::warning;
  line.text =
      fmt::format("{}{}: {}", alert.over ? kOver : kAlert, name_of(alert.kind), alert.words);
  return line;
}

std::optional<Alert> alert_of(const storage::LogLine& line) {
  if (line.rank != telemetry::kSupervisorRank) return std::nullopt;
  std::string_view text = line.text;
  const bool over = text.starts_with(kOver);
  if (!over && !text.starts_with(kAlert)) return std::nullopt;
  text.remove_prefix(over ? kOver.size() : kAlert.size());
  for (const auto& [kind, name] : kNames) {
    const std::string begin = std::string(name) + ": ";
    if (text.starts_with(begin)) return Alert{kind, over, std::string(text.substr(begin.size()))};
  }
  return std::nullopt;
}

void follow_alerts(std::map<AlertKind, Alert>& open, const std::vector<storage::LogLine>& lines) {
  for (const storage::LogLine& line : lines) {
    const auto alert = alert_of(line);
    if (!alert) continue;
    if (alert->over)
      open.erase(alert->kind);
    else
      open[alert->kind] = *alert;
  }
}

void AlertWatch::set_open(const std::set<AlertKind>& kinds) {
  for (const AlertKind kind : kinds) episodes_[kind].open = true;
}

std::vector<Alert> AlertWatch::take() { return std::exchange(said_, {}); }

void AlertWatch::add(AlertKind kind, bool over, std::string words) {
  said_.push_back({kind, over, std::move(words)});
}

/// Whether an episode begins or ends.
bool AlertWatch::see(AlertKind kind, bool reason, int patience) {
  Episode& episode = episodes_[kind];
  episode.calm = reason ? 0 : episode.calm + 1;
  if (episode.open ? episode.calm < patience : !reason) return false;
  episode.open = reason;
  return true;
}

void AlertWatch::loss(int64_t step, double value) {
  const bool finite = std::isfinite(value);
  if (see(AlertKind::not_finite, !finite && rules_.not_finite, kCalm))
    add(AlertKind::not_finite, finite,
        finite ? fmt::format("{}: loss {}", step_words(step), loss_text(value))
               : fmt::format("{}: the loss is {}", step_words(step),
                             std::isnan(value) ? "not a number" : "infinite"));
  if (!finite) return;
  if (losses_.size() >= kFewLosses && rules_.spike > 0) {
    const double median = middle_of(losses_);
    const double above = (value - median) / std::max(deviation_of(losses_, median), 1e-12);
    const bool spike = above > rules_.spike;
    if (see(AlertKind::spike, spike, kCalm))
      add(AlertKind::spike, !spike,
          spike ? fmt::format("{}: loss {}, {} deviations above {}, the median of {} steps",
                              step_words(step), loss_text(value), significant_text(above, 2),
                              loss_text(median), losses_.size())
                : fmt::format("{}: loss {}", step_words(step), loss_text(value)));
  }
  keep(losses_, value, kLosses);
}

void AlertWatch::throughput(int64_t step, double tokens_per_second) {
  if (!std::isfinite(tokens_per_second)) return;
  keep(recent_rates_, tokens_per_second, kRecentRates);
  // One slow step, after a checkpoint, is none.
  const bool known = rates_.size() >= kFewRates && recent_rates_.size() == kRecentRates;
  if (known && rules_.slower > 0) {
    const double usual = middle_of(rates_), now = middle_of(recent_rates_);
    const bool slower = now < (1 - rules_.slower) * usual;
    if (see(AlertKind::slower, slower, kCalm))
      add(AlertKind::slower, !slower,
          slower ? fmt::format("{}: {} a rank, {} below {}, the run's median", step_words(step),
                               rate_text(now), share_text(1 - now / usual), rate_text(usual))
                 : fmt::format("{}: {} a rank", step_words(step), rate_text(now)));
  }
  // A slow time does not become what is usual.
  if (!episodes_[AlertKind::slower].open) keep(rates_, tokens_per_second, kRates);
}

void AlertWatch::step_seconds(double value) {
  if (std::isfinite(value)) keep(seconds_, value, kSeconds);
}

void AlertWatch::memory(int64_t step, const std::string& holder, double bytes, double limit) {
  if (!(limit > 0) || !std::isfinite(bytes) || !(rules_.memory > 0)) return;
  if (bytes > rules_.memory * limit)
    full_.insert(holder);
  else
    full_.erase(holder);
  if (!see(AlertKind::memory, !full_.empty(), kCalm)) return;
  add(AlertKind::memory, full_.empty(),
      fmt::format("{}: {} {} of {}, {}", step_words(step), holder, bytes_text(bytes),
                  bytes_text(limit), share_text(bytes / limit)));
}

void AlertWatch::quiet(int64_t step, double seconds) {
  if (!(rules_.silence > 0)) return;
  const double usual = seconds_.empty() ? 0 : middle_of(seconds_);
  const double patience = step == 0 ? std::max(rules_.silence, kBeforeFirst)
                                    : std::max(rules_.silence, kUsualSteps * usual);
  const bool silent = seconds > patience;
  // Only a step ends it.
  if (!silent && seconds > 0) return;
  if (!see(AlertKind::silence, silent, 1)) return;
  add(AlertKind::silence, !silent,
      !silent     ? step_words(step) + " has ended"
      : step == 0 ? fmt::format("none has ended for {}", seconds_text(seconds))
                  : fmt::format("none has ended for {}; the last was {}", seconds_text(seconds),
                                step_words(step)));
}

}  // namespace heddle::workbench
