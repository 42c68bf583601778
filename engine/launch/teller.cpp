#include "engine/launch/teller.h"

#include <fmt/format.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/guard.h"
#include "base/json_text.h"

namespace heddle::launch {
namespace {

using telemetry::Type;

constexpr std::chrono::milliseconds kTellerLook{200};
constexpr double kBetween = 0.5;  // seconds, on a terminal
constexpr int64_t kLines = 25;    // of a run, elsewhere

// Prints steps and numbers of rank 0, log lines of all.
bool is_told(int32_t epoch, const LogName& log, Type type) {
  return log.epoch == epoch && (type == Type::log || (log.rank == 0 && telemetry::is_line(type)));
}

void put(Tell tell, const std::string& line) {
  FILE* stream = tell == Tell::json ? stdout : stderr;
  say(stream, "{}\n", line);
  fflush(stream);
}

nlohmann::ordered_json fields(const telemetry::Start& start) {
  return {{"event", "start"},
          {"world_size", start.world_size},
          {"mode", start.mode},
          {"environment", start.environment},
          {"facts", start.facts}};
}
nlohmann::ordered_json fields(const telemetry::Step& step) {
  return {{"event", "step"}, {"step", step.step}, {"values", step.values}};
}
nlohmann::ordered_json fields(const telemetry::Spans& spans) {
  return {{"event", "spans"}, {"step", spans.step}};
}
nlohmann::ordered_json fields(const telemetry::Plan& plan) {
  return {{"event", "plan"}, {"hash", plan.hash}};
}
nlohmann::ordered_json fields(const telemetry::Log& log) {
  constexpr const char* levels[] = {"info", "warning", "error"};
  return {{"event", "log"}, {"level", levels[static_cast<size_t>(log.level)]}, {"text", log.text}};
}
nlohmann::ordered_json fields(const telemetry::End& end) {
  return {{"event", "end"}, {"state", end.state}, {"cause", end.cause}, {"results", end.results}};
}

}  // namespace

StepLines::StepLines(bool terminal, int64_t steps)
    : terminal_(terminal), steps_(steps), every_(std::max<int64_t>(1, steps / kLines)) {}

bool StepLines::tells(const telemetry::Step& step, double now) {
  const auto finite = [&](const char* name) {
    const auto value = step.values.find(name);
    return value == step.values.end() || std::isfinite(value->second);
  };
  const bool always = due_ || step.step == steps_ || step.values.contains("validation_loss") ||
                      !finite("loss") || !finite("grad_norm");
  if (!always && (terminal_ ? now - told_ < kBetween : step.step % every_ != 0)) return false;
  due_ = false;
  told_ = now;
  return true;
}

std::string json_line(const LogEntry& entry) {
  nlohmann::ordered_json json =
      std::visit([](const auto& record) { return fields(record); }, entry.record);
  json["rank"] = entry.log.rank;
  json["time"] = entry.time;
  return json_text(json);
}

void tell_line(Tell tell, telemetry::Level level, const std::string& text) {
  if (tell == Tell::quiet) return;
  const telemetry::Log log{unix_now(), level, text};
  put(tell, tell == Tell::json ? json_line({{}, log.time, log}) : telemetry::log_text(log));
}

Teller::Teller(Options options)
    : options_(std::move(options)),
      logs_(options_.run_dir,
            [epoch = options_.epoch](const LogName& log, Type type) {
              return is_told(epoch, log, type);
            }),
      step_lines_(isatty(STDERR_FILENO) == 1, options_.steps) {
  if (options_.tell == Tell::quiet) return;
  // The group of ranks takes the process's signals in its own thread.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] {
    const Result<> done = caught([this]() -> Result<> {
      work();
      return {};
    });
    if (!done) say(stderr, "{}\n", done.error().message);
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Teller::~Teller() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Teller::work() {
  std::unique_lock lock(mutex_);
  while (!over_) {
    lock.unlock();
    look();
    lock.lock();
    wake_.wait_for(lock, kTellerLook, [this] { return over_; });
  }
  look();
  if (untold_) tell_step(*untold_);
}

void Teller::look() {
  const Result<> read = logs_.read([this](const LogEntry& entry) { tell(entry); });
  if (!read && !std::exchange(failed_, true))
    tell_line(options_.tell, telemetry::Level::warning, read.error().message);
}

void Teller::tell(const LogEntry& entry) {
  const auto* log = std::get_if<telemetry::Log>(&entry.record);
  // The ranks' logs and the end show how their processes come and go.
  if (log && telemetry::is_of_process(entry.log.rank, log->text)) return;
  if (options_.tell == Tell::json) return put(Tell::json, json_line(entry));
  if (const auto* start = std::get_if<telemetry::Start>(&entry.record))
    return put(Tell::lines, telemetry::start_text(*start));
  if (log) {
    if (log->level != telemetry::Level::info) step_lines_.warned();
    return put(Tell::lines, telemetry::speaker(entry.log.rank) + telemetry::log_text(*log));
  }
  if (const auto* step = std::get_if<telemetry::Step>(&entry.record)) {
    pace_.add(*step);
    untold_ = *step;
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    if (step_lines_.tells(*step, seconds)) tell_step(*step);
    return;
  }
  const auto& end = std::get<telemetry::End>(entry.record);
  if (untold_) tell_step(*untold_);
  // The rank's own words report a failure.
  if (end.state != "failed") put(Tell::lines, telemetry::end_text(end));
}

void Teller::tell_step(const telemetry::Step& step) {
  put(options_.tell,
      telemetry::step_text(step, options_.steps, pace_.seconds_left(options_.steps)));
  untold_.reset();
}

}  // namespace heddle::launch
