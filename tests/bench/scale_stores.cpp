#include "tests/bench/scale_stores.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <deque>
#include <filesystem>
#include <fstream>
#include <random>

#include "engine/telemetry/record.h"
#include "tests/support/results.h"

namespace heddle::bench {
namespace {

using storage::NewRun;
using storage::RunId;
using storage::RunState;
using storage::Writer;

constexpr double kBegan = 1.78e9;  // Unix seconds: these runs are old
constexpr size_t kWaiting = 4;     // ingests under way

NewRun new_run(const std::string& name) {
  NewRun run;
  run.name = name;
  run.target = "this-machine";
  run.recipe_name = "debug";
  run.created = kBegan;
  return run;
}

RunId begin_run(Writer& writer, NewRun run) {
  const RunId id = must(writer.create_run(std::move(run))).id;
  must(writer.set_state(id, RunState::running, {}, kBegan));
  return id;
}

void end_run(Writer& writer, RunId run) {
  must(writer.set_state(run, RunState::done, {}, kBegan + 3600));
}

std::vector<std::string> metric_names(int metrics) {
  std::vector<std::string> names = {"loss", "tokens_per_second"};
  names.resize(static_cast<size_t>(std::min(metrics, 2)));
  while (names.size() < static_cast<size_t>(metrics))
    names.push_back(fmt::format("metric.{}", names.size()));
  return names;
}

/// The keys of a recipe, as a sweep changes them, and many more of no meaning.
void many_runs(Writer& writer) {
  constexpr std::array kStates = {RunState::done, RunState::done, RunState::stopped,
                                  RunState::failed};
  std::deque<Writer::Future<storage::CreatedRun>> waiting;
  std::mt19937 random(1);
  const auto settle = [&](size_t most) {
    for (; waiting.size() > most; waiting.pop_front()) {
      const RunId id = must(std::move(waiting.front())).id;
      const double quality = static_cast<double>(random() % 1000) / 1000;
      (void)writer.set_results(id, {{"loss", 2.5 + quality},
                                    {"tokens_per_second_per_rank", 5000 + 2000 * quality},
                                    {"peak_bytes", 1e10 * (1 + quality)}});
      (void)writer.change_tags(id, {id % 3 == 0 ? "fp8" : "bf16"});
      (void)writer.set_state(id, kStates[static_cast<size_t>(id) % kStates.size()], {},
                             kBegan + 3600);
    }
  };
  for (int i = 0; i < 10'000; ++i) {
    NewRun run = new_run(fmt::format("run-{}", i));
    run.created = kBegan + i * 60;
    run.recipe = std::string(2'000, '#');
    run.recipe_values = {{"optimizer.lr", fmt::format("{:.1e}", 1e-5 * (1 + i % 50))},
                         {"training.seed", std::to_string(i % 5)},
                         {"model.preset", i % 2 ? "llama3-8b" : "llama3-1b"}};
    for (int k = 3; k < 2'000; ++k)
      run.recipe_values.emplace_back(fmt::format("key.{}", k), std::to_string((i * 31 + k) % 97));
    waiting.push_back(writer.create_run(std::move(run)));
    settle(50);
  }
  settle(0);
}

/// Several runs of `steps` steps and `metrics` metrics each.
void equal_runs(Writer& writer, int runs, int64_t steps, int metrics, const char* name) {
  for (int i = 0; i < runs; ++i) {
    NewRun run = new_run(fmt::format("{}-{}", name, i));
    run.recipe_values = {{"optimizer.lr", fmt::format("{:.1e}", 1e-5 * (1 + i % 10))},
                         {"training.seed", std::to_string(i % 5)}};
    run.recipe = fmt::format("[optimizer]\nlr = {}\n", run.recipe_values[0].second);
    const RunId id = begin_run(writer, std::move(run));
    feed_steps(writer, id, steps, metrics, std::max<int64_t>(1, 20'000 / metrics));
    end_run(writer, id);
  }
}

void fifty_runs(Writer& writer) { equal_runs(writer, 50, 2'000, 12, "live"); }
void many_metrics(Writer& writer) { equal_runs(writer, 79, 100, 2'261, "wide"); }
void long_run(Writer& writer) { equal_runs(writer, 1, 5'000'000, 2, "long"); }

/// One rank's step: layers of products with a gather each, every third of them exposed.
telemetry::Spans step_of(int32_t rank, int spans) {
  telemetry::Spans step{.step = 1, .time = kBegan, .spans = {}};
  step.spans.reserve(static_cast<size_t>(spans));
  for (int i = 0; i < spans / 2; ++i) {
    const auto phase = static_cast<uint8_t>(i < spans / 6 ? 0 : i < spans * 5 / 12 ? 1 : 2);
    const std::string module = fmt::format("layers.{}.attention.wq", i * 126 / (spans / 2));
    const int64_t at = int64_t{i} * 100;
    step.spans.push_back({.name = "mm",
                          .module = module,
                          .start_us = at,
                          .duration_us = i % 3 ? 98 : 60,
                          .phase = phase});
    step.spans.push_back({.name = "all_gather",
                          .module = module,
                          .start_us = at + rank % 7,
                          .duration_us = 90,
                          .stream = telemetry::kTransfer,
                          .phase = phase});
  }
  return step;
}

void million_spans(Writer& writer) {
  constexpr int kRanks = 64, kSpans = 1'000'000 / kRanks;
  const RunId run = begin_run(writer, new_run("spans"));
  for (int32_t rank = 0; rank < kRanks; ++rank) {
    const telemetry::Start start{.time = kBegan,
                                 .rank = rank,
                                 .world_size = kRanks,
                                 .mode = "planned",
                                 .environment = {},
                                 .facts = {}};
    std::string bytes = must(telemetry::encode(start, 0));
    bytes += must(telemetry::encode(step_of(rank, kSpans), 1));
    bytes += must(telemetry::encode(telemetry::Step{1, kBegan + 1, {{"loss", 8}}}, 2));
    must(writer.ingest(run, rank, 0, 0, std::move(bytes)));
  }
  end_run(writer, run);
}

constexpr std::array<ScaleShape, 5> kShapes = {{
    {"runs", "10,000 runs x 2,000 keys", many_runs},
    {"live", "50 runs x 2,000 points x 12 metrics", fifty_runs},
    {"metrics", "79 runs x 2,261 metrics", many_metrics},
    {"long", "one run of 10,000,000 samples", long_run},
    {"spans", "one step of 1,000,000 spans over 64 ranks", million_spans},
}};

}  // namespace

std::string encoded_steps(RunId run, int64_t steps, int metrics, int64_t first) {
  std::mt19937 random(static_cast<unsigned>(run * 1000 + first));
  const std::vector<std::string> names = metric_names(metrics);
  std::string bytes;
  for (int64_t step = first; step < first + steps; ++step) {
    telemetry::Step record{step, kBegan + static_cast<double>(step), {}};
    const double loss = 2 + 6 / std::sqrt(1 + static_cast<double>(step) / 50);
    for (const std::string& name : names)
      record.values[name] = loss * (1 + static_cast<double>(random() % 1000) * 1e-4);
    bytes += must(telemetry::encode(record, static_cast<uint64_t>(step - 1)));
  }
  return bytes;
}

uint64_t feed_steps(Writer& writer, RunId run, int64_t steps, int metrics, int64_t batch,
                    int64_t first, uint64_t offset) {
  std::deque<Writer::Future<storage::Ingested>> waiting;
  for (int64_t done = 0; done < steps; done += batch) {
    std::string bytes = encoded_steps(run, std::min(batch, steps - done), metrics, first + done);
    const size_t size = bytes.size();
    waiting.push_back(writer.ingest(run, 0, 0, offset, std::move(bytes)));
    offset += size;
    if (waiting.size() < kWaiting) continue;
    must(std::move(waiting.front()));
    waiting.pop_front();
  }
  for (auto& future : waiting) must(std::move(future));
  return offset;
}

std::span<const ScaleShape> scale_shapes() { return kShapes; }

void make_scale_store(const ScaleShape& shape, const std::string& path) {
  const std::string complete = path + ".complete";  // next to a store that was filled to its end
  if (std::filesystem::exists(complete)) return;
  for (const char* file : {"", "-wal", "-shm"}) std::filesystem::remove(path + file);
  const auto writer = must(Writer::open(path));
  must(writer->take_lease());
  shape.fill(*writer);
  std::ofstream(complete).flush();
}

}  // namespace heddle::bench
