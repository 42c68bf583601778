#include "engine/telemetry/lines.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "base/number_text.h"
#include "engine/telemetry/metrics.h"

namespace heddle::telemetry {
namespace {

constexpr size_t kPace = 20;  // steps
constexpr const char* kRank = "rank ";

/// The metrics of a record that have a place on its line, `between` before each but the first.
std::string metrics_text(const std::map<std::string, double>& values,
                         std::string_view Metric::*line, const char* between) {
  std::string text;
  for (const Metric& each : metrics()) {
    const auto at = values.find(std::string(each.name));
    if ((each.*line).empty() || at == values.end()) continue;
    if (!text.empty()) text += between;
    text += fmt::format(fmt::runtime(each.*line), unit_text(each.unit, at->second));
  }
  return text;
}

std::string plural(int64_t count, const char* noun) {
  return fmt::format("{} {}{}", count_text(static_cast<double>(count)), noun,
                     count == 1 ? "" : "s");
}

std::string of(const std::map<std::string, std::string>& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

}  // namespace

std::string speaker(int32_t rank) { return rank <= 0 ? "" : fmt::format("rank {}: ", rank); }

std::string process_text(int32_t rank, const std::string& what) {
  return fmt::format("{}{} {}", kRank, rank, what);
}

bool is_of_process(int32_t rank, const std::string& text) {
  return rank == kSupervisorRank && text.starts_with(kRank);
}

std::string step_text(const Step& step, int64_t steps, std::optional<double> seconds_left) {
  const std::string number = count_text(static_cast<double>(step.step));
  std::string line;
  if (steps > 0) {
    const std::string all = count_text(static_cast<double>(steps));
    line = fmt::format("step {:>{}}/{}", number, all.size(), all);
  } else {
    line = fmt::format("step {:>6}", number);
  }
  if (const std::string text = metrics_text(step.values, &Metric::step_line, "  "); !text.empty())
    line += "  " + text;
  if (seconds_left) line += "  ETA " + seconds_text(*seconds_left);
  return line;
}

std::string start_text(const Start& start) {
  std::string line = start.rank < 0 ? "supervisor of " + plural(start.world_size, "rank")
                     : start.rank == 0
                         ? plural(start.world_size, "rank")
                         : fmt::format("rank {} of {}", start.rank, count_text(start.world_size));
  line += ", " + start.mode;
  if (const std::string host = of(start.environment, "host"); !host.empty()) line += ", on " + host;
  if (const std::string device = of(start.environment, "device"); !device.empty()) {
    const std::string threads = of(start.environment, "threads");
    line += fmt::format(
        " ({}{})", device,
        threads.empty() ? ""
                        : fmt::format(", {} thread{} a rank", threads, threads == "1" ? "" : "s"));
  }
  const auto memory = start.facts.find("predicted_peak_bytes");
  if (memory != start.facts.end() && memory->second > 0)
    line += "; predicted memory " + bytes_text(memory->second) + " a rank";
  return line;
}

std::string log_text(const Log& log) {
  constexpr const char* levels[] = {"", "warning: ", "error: "};
  return levels[static_cast<size_t>(log.level)] + log.text;
}

std::string end_text(const End& end) {
  std::string line = end.state;
  const char* between = ": ";
  if (!end.cause.empty() && end.state != "done") {
    line += between + end.cause;
    between = "; ";
  }
  if (const std::string text = metrics_text(end.results, &Metric::end_line, ", "); !text.empty())
    line += between + text;
  return line;
}

void Pace::add(const Step& step) {
  // A run that goes on in the same directory repeats no pace of the attempt before.
  if (!newest_.empty() && step.step <= newest_.back().step) newest_.clear();
  newest_.push_back({step.step, step.time});
  if (newest_.size() > kPace) newest_.pop_front();
}

std::optional<double> Pace::seconds_left(int64_t steps) const {
  if (newest_.size() < 2 || steps <= 0) return std::nullopt;
  const Ended &first = newest_.front(), &last = newest_.back();
  if (steps <= last.step) return std::nullopt;
  return (last.time - first.time) / static_cast<double>(last.step - first.step) *
         static_cast<double>(steps - last.step);
}

}  // namespace heddle::telemetry
