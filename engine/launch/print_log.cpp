#include "engine/launch/print_log.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdio.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <thread>

#include "base/say.h"
#include "engine/launch/teller.h"
#include "engine/runs/run_files.h"

namespace heddle::launch {
namespace {

constexpr std::chrono::milliseconds kLogLook{200};
constexpr int kUsageFault = 2;

int refuse_print(const std::string& message) {
  say(stderr, "{}\n", message);
  return kUsageFault;
}

std::string clock_text(double unix_seconds) {
  const double whole = std::floor(unix_seconds);
  const auto seconds = static_cast<time_t>(whole);
  tm local{};
  localtime_r(&seconds, &local);
  char text[32];
  const size_t size = strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local);
  return fmt::format("{}.{:03.0f}", std::string_view(text, size),
                     std::floor((unix_seconds - whole) * 1000));
}

class Printer {
 public:
  explicit Printer(const LogOptions& options) : options_(options) {}

  void print(const LogEntry& entry) {
    if (options_.json) {
      say("{}\n", json_line(entry));
      return;
    }
    const int32_t rank = entry.log.rank;
    say("{}  {:<10}  {}\n", clock_text(entry.time),
        rank == telemetry::kSupervisorRank ? "supervisor" : fmt::format("rank {}", rank),
        std::visit([&](const auto& record) { return text(rank, record); }, entry.record));
  }

 private:
  std::string text(int32_t, const telemetry::Start& start) { return start_text(start); }
  std::string text(int32_t rank, const telemetry::Step& step) {
    telemetry::Pace& pace = pace_[rank];
    pace.add(step);
    return step_text(step, options_.steps, pace.seconds_left(options_.steps));
  }
  std::string text(int32_t, const telemetry::Spans&) { return {}; }
  std::string text(int32_t, const telemetry::Plan&) { return {}; }
  std::string text(int32_t, const telemetry::Log& log) { return log_text(log); }
  std::string text(int32_t, const telemetry::End& end) { return end_text(end); }

  const LogOptions& options_;
  std::map<int32_t, telemetry::Pace> pace_;  // by rank
};

std::string ranks_in(const std::vector<LogName>& logs) {
  std::set<int32_t> ranks;
  for (const LogName& log : logs)
    if (log.rank >= 0) ranks.insert(log.rank);
  return ranks.empty() ? "none" : fmt::format("{}", fmt::join(ranks, ", "));
}

}  // namespace

int print_log(const LogOptions& options) {
  RunLogs logs(options.run_dir, [&](const LogName& log, telemetry::Type type) {
    return telemetry::is_line(type) && (!options.rank || log.rank == *options.rank);
  });
  Printer printer(options);
  const auto print = [&](const LogEntry& entry) { printer.print(entry); };
  for (bool first = true;; first = false) {
    // Asked before the logs are read: the logs of a run that has ended are whole.
    const Result<runs::Status> status = runs::read_status(options.run_dir);
    const bool goes_on = options.follow && status && status->condition == runs::Condition::running;
    if (const Result<> read = logs.read(print); !read) return refuse_print(read.error().message);
    fflush(stdout);
    const std::vector<LogName> found = logs.logs();
    if (first && found.empty() && !goes_on)
      return refuse_print(fmt::format(
          "{}: there is no log in it; valid: the directory of a run (it holds rank-0.0.hlog)",
          options.run_dir));
    if (first && options.rank && !goes_on &&
        std::none_of(found.begin(), found.end(),
                     [&](const LogName& log) { return log.rank == *options.rank; }))
      return refuse_print(fmt::format("--rank: there is no log of rank {} in {}; valid: {}",
                                      *options.rank, options.run_dir, ranks_in(found)));
    if (!goes_on) return 0;
    std::this_thread::sleep_for(kLogLook);
  }
}

}  // namespace heddle::launch
