#include "workbench/run_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/probe/report.h"
#include "storage/difference.h"
#include "workbench/targets.h"

namespace heddle::workbench {
namespace {

constexpr double kLookSeconds = 2;
/// Steps that tell what is usual, and lines that tell what was said.
constexpr int64_t kHistory = 1100;
constexpr size_t kLines = 2000;

/// Memory of each of the target's hosts; 0: it was never probed.
double memory_of_hosts(storage::Reader& reader, const Place& place) {
  const auto target = find_target(reader, place.target.name);
  if (target && target->probe) return static_cast<double>(target->probe->memory_bytes);
  if (place.target.name != remote::kThisMachine) return 0;
  const auto here = probe::memory_of_this_machine();
  return here ? static_cast<double>(here->memory_bytes) : 0;
}

}  // namespace

RunWatch::RunWatch(std::string store_path, storage::Writer& writer, storage::RunId run,
                   const Place& place, std::function<void(const Alert&)> said)
    : store_path_(std::move(store_path)),
      writer_(writer),
      run_(run),
      place_(place),
      said_(std::move(said)) {}

void RunWatch::begin() {
  if (begun_) return;
  begun_ = start().has_value();
}

Result<> RunWatch::start() {
  if (!reader_) {
    auto opened = storage::Reader::open(store_path_);
    if (!opened) return fail(opened);
    reader_ = std::move(*opened);
  }
  const auto said = reader_->last_lines(run_, kLines);
  if (!said) return fail(said);
  std::map<AlertKind, Alert> open;
  follow_alerts(open, *said);
  const auto run = reader_->run(run_);
  if (!run) return fail(run);
  take_facts(*run);
  const auto recipe = reader_->recipe_values(run_);
  if (!recipe) return fail(recipe);
  if (const auto steps = recipe->find("training.steps"); steps != recipe->end())
    last_step_ = static_cast<int64_t>(storage::number_of(steps->second).value_or(0));
  step_ = std::max<int64_t>(run->summary.steps - kHistory, 0);
  if (const Result<> read = read_news(); !read) return read;
  (void)alerts_.take();
  // Only what a step can end again is left open by history.
  std::set<AlertKind> kinds;
  for (const auto& [kind, alert] : open) kinds.insert(kind);
  alerts_.set_open(kinds);
  return {};
}

void RunWatch::take_facts(const storage::RunDetail& run) {
  ranks_ = run.ranks;
  if (const auto bytes = run.results.find("device_memory_bytes"); bytes != run.results.end())
    gpu_bytes_ = storage::number_of(bytes->second).value_or(0);
}

/// Feeds the samples of the lowest rank; the last one's step.
template <typename Take>
Result<int64_t> RunWatch::each_sample(const char* metric, storage::StepRange range, Take take) {
  const auto samples = reader_->samples(run_, metric, ranks_.front(), range);
  if (!samples) return fail(samples);
  for (const storage::Sample& sample : *samples) take(sample);
  return samples->empty() ? 0 : samples->back().step;
}

Result<> RunWatch::read_news() {
  if (ranks_.empty()) {
    const auto run = reader_->run(run_);
    if (!run) return fail(run);
    take_facts(*run);
    if (ranks_.empty()) return {};
  }
  const storage::StepRange news{.first = step_ + 1};
  const auto newest = each_sample("loss", news, [&](const storage::Sample& sample) {
    alerts_.loss(sample.step, sample.value);
  });
  if (!newest) return fail(newest);
  if (*newest == 0) return {};
  const storage::StepRange range{.first = step_ + 1, .last = *newest};
  const auto rates = each_sample("tokens_per_second", range, [&](const storage::Sample& sample) {
    alerts_.throughput(sample.step, sample.value);
  });
  if (!rates) return fail(rates);
  const auto seconds = each_sample("step_seconds", range, [&](const storage::Sample& sample) {
    alerts_.step_seconds(sample.value);
  });
  if (!seconds) return fail(seconds);
  if (const Result<> memory = read_memory(*newest); !memory) return memory;
  step_ = *newest;
  came_ = Clock::now();
  alerts_.quiet(step_, 0);
  return {};
}

/// Ranks' records of a step come in one after the other: of the last steps the newest.
Result<std::optional<double>> RunWatch::newest_bytes(const char* metric, int32_t rank,
                                                     int64_t newest) {
  const auto bins =
      reader_->series(run_, metric, rank, {std::max<int64_t>(newest - 8, 1), newest}, 1);
  if (!bins) return fail(bins);
  if (bins->empty() || !std::isfinite(bins->back().last)) return std::nullopt;
  return bins->back().last;
}

/// The ranks of a host hold its memory together; each has its GPU, or shares it with other
/// processes.
Result<> RunWatch::read_memory(int64_t newest) {
  if (!host_bytes_) host_bytes_ = memory_of_hosts(*reader_, place_);
  for (size_t i = 0; i < place_.shares.size(); ++i) {
    const Share& share = place_.shares[i];
    const std::string host = place_.target.part_name(i);
    double bytes = 0;
    for (int32_t rank = share.first_rank; rank < share.first_rank + share.local_ranks; ++rank) {
      const auto resident = newest_bytes("resident_bytes", rank, newest);
      if (!resident) return fail(resident);
      bytes += resident->value_or(0);
      if (gpu_bytes_ <= 0) continue;
      const auto on_gpu = newest_bytes("device_bytes", rank, newest);
      if (!on_gpu) return fail(on_gpu);
      if (*on_gpu)
        alerts_.memory(newest, fmt::format("the GPU of rank {} on {} holds", rank, host), **on_gpu,
                       gpu_bytes_);
    }
    alerts_.memory(newest, fmt::format("the ranks on {} hold", host), bytes, *host_bytes_);
  }
  return {};
}

/// A person may change the rules at any time.
void RunWatch::read_rules() {
  const std::string path = alert_rules_path();
  std::error_code error;
  const auto time = std::filesystem::last_write_time(path, error);
  const auto found = error ? std::filesystem::file_time_type{} : time;
  if (std::exchange(rules_time_, found) == found) return;
  const auto rules = read_alert_rules(path);
  alerts_.set_rules(rules ? *rules : AlertRules{});
  if (!rules)
    lines_.push_back({.level = telemetry::Level::warning,
                      .text = rules.error().message + "; the usual alerts are given"});
}

bool RunWatch::look(bool last) {
  if (!last && seconds_since(looked_) < kLookSeconds) return false;
  looked_ = Clock::now();
  read_rules();
  begin();
  // If the store fails, its writers report it.
  const bool ends = last || (last_step_ > 0 && step_ >= last_step_);
  if (begun_ && read_news() && !ends) alerts_.quiet(step_, seconds_since(came_));
  for (const Alert& alert : alerts_.take()) {
    lines_.push_back(line_of(alert));
    if (said_) said_(alert);
  }
  for (const storage::LogLine& line : lines_)
    [[maybe_unused]] const Result<> added = writer_.add_line(run_, line).get();
  return !std::exchange(lines_, {}).empty();
}

}  // namespace heddle::workbench
