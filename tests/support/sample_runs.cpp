#include "tests/support/sample_runs.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/recipe/parse.h"
#include "storage/writer.h"

namespace heddle::samples {
namespace {

constexpr int kLayers = 8, kRanks = 2, kSteps = 300, kProfileEvery = 10;

struct Sample {
  std::string name;
  std::string wrapping;
  double lr = 1e-3;
  int steps = kSteps;
  std::string end;  // empty: still running
  std::string cause;
  double hoursAgo = 1;
};

std::string recipeOf(const Sample& sample) {
  return fmt::format(R"([model]
preset = "llama3-debug"
n_layers = {}
[data]
text = ["shakespeare.txt"]
tokenizer = "tokenizer.json"
seq_len = 256
[training]
steps = {}
local_batch = 4
[optimizer]
lr = {}
[wrapping]
mode = "{}"
)",
                     kLayers, kSteps, sample.lr, sample.wrapping);
}

/// A step's spans: a gather in front of each layer, a scatter after its backward. `ahead`: the next
/// layer's gather is issued before this layer computes, and nothing waits for a scatter.
std::vector<telemetry::Span> timelineOf(bool ahead, int64_t jitter) {
  std::vector<telemetry::Span> spans;
  int64_t compute = 0, communication = 0;
  const int64_t took = 9000 + jitter;
  const auto layer = [](int number) { return fmt::format("layers.{}", number); };
  const auto communicate = [&](const char* name, int number, uint8_t phase) {
    const int64_t begin = std::max(communication, compute);
    spans.push_back({name, layer(number), begin, took, 1, phase});
    communication = begin + took;
    return communication;
  };
  const auto pass = [&](uint8_t phase, int64_t attention, int64_t ffn) {
    const auto numberOf = [phase](int i) { return phase == 0 ? i : kLayers - 1 - i; };
    int64_t ready = communicate("all_gather", numberOf(0), phase);
    for (int i = 0; i < kLayers; ++i) {
      const std::string module = layer(numberOf(i));
      compute = std::max(compute, ready);
      const bool more = i + 1 < kLayers;
      if (ahead && more) ready = communicate("all_gather", numberOf(i + 1), phase);
      spans.push_back({"attention", module + ".attention", compute, attention, 0, phase});
      compute += attention;
      spans.push_back({"mm", module + ".feed_forward", compute, ffn, 0, phase});
      compute += ffn;
      if (phase == 1) communicate("reduce_scatter", numberOf(i), phase);
      if (!ahead && phase == 1) compute = communication;
      if (!ahead && more) ready = communicate("all_gather", numberOf(i + 1), phase);
    }
  };
  pass(0, 14000 + jitter, 21000);
  pass(1, 19000, 22000 + jitter);
  compute = std::max(compute, communication) + 1500;
  spans.push_back({"fused_adamw", "", compute, 14000, 0, 2});
  return spans;
}

/// A repeatable ripple in [-1, 1].
double ripple(int64_t step, int seed) {
  return std::sin(static_cast<double>(step) * 12.9898 + seed * 78.233) *
         std::cos(static_cast<double>(step) * 4.1414 + seed);
}

std::vector<telemetry::Record> recordsOf(const Sample& sample, int32_t rank, double began) {
  const bool ahead = sample.wrapping != "none";
  const double seconds = ahead ? 0.612 : 0.748;
  std::vector<telemetry::Record> records;
  records.emplace_back(telemetry::Start{
      began,
      rank,
      kRanks,
      "planned",
      {{"host", "loom"}, {"cpu", "8 cores"}, {"engine", "0.1.0"}, {"torch", "2.11.0"}},
      {{"nodes", 2104}, {"capture_seconds", 0.021}}});
  for (int64_t step = 1; step <= sample.steps; ++step) {
    const double noise = ripple(step, static_cast<int>(sample.lr * 1e5));
    const double took = seconds * (1 + 0.02 * ripple(step, rank)) * (step == 1 ? 3.5 : 1);
    const double loss =
        3.9 + 4.5 * std::exp(-static_cast<double>(step) / (60 / (sample.lr / 1e-3))) + 0.05 * noise;
    const double time = began + static_cast<double>(step) * seconds;
    std::map<std::string, double> values = {{"loss", loss},
                                            {"loss_max", loss + 0.8},
                                            {"grad_norm", 0.6 + 0.2 * std::abs(noise)},
                                            {"lr", sample.lr},
                                            {"tokens_per_second", 1024 / took},
                                            {"step_seconds", took},
                                            {"data_seconds", 0.002},
                                            {"resident_bytes", 612e6 + 2e6 * std::abs(noise)},
                                            {"tokens_seen", static_cast<double>(step) * 2048}};
    if (step % kProfileEvery == 0) values["exposed_seconds"] = ahead ? 0.019 : 0.151;
    records.emplace_back(telemetry::Step{step, time, std::move(values)});
    if (step % kProfileEvery == 0)
      records.emplace_back(
          telemetry::Spans{step, time - seconds, timelineOf(ahead, 400 * rank + step % 7 * 90)});
    if (step % 50 == 0)
      records.emplace_back(
          telemetry::Log{time, telemetry::Level::info, fmt::format("step {} of {}", step, kSteps)});
  }
  if (!sample.end.empty())
    records.emplace_back(telemetry::End{began + sample.steps * seconds,
                                        sample.end,
                                        sample.cause,
                                        {{"tokens_per_second_per_rank", 1024 / seconds},
                                         {"step_seconds", seconds},
                                         {"peak_bytes", ahead ? 631e6 : 588e6},
                                         {"predicted_peak_bytes", ahead ? 622e6 : 580e6},
                                         {"first_step_seconds", seconds * 3.5},
                                         {"capture_seconds", 0.021},
                                         {"plan_seconds", 0.0087},
                                         {"exposed_seconds", ahead ? 0.019 : 0.151},
                                         {"nodes", 2104},
                                         {"collectives", ahead ? 20 : 152},
                                         {"model_forward_calls", 1}}});
  return records;
}

Result<std::string> logOf(const std::vector<telemetry::Record>& records) {
  std::string log;
  uint64_t seq = 0;
  for (const telemetry::Record& record : records) {
    auto frame = telemetry::encode(record, seq++);
    if (!frame) return fail(frame);
    log += *frame;
  }
  return log;
}

Result<storage::RunId> add(storage::Writer& writer, const Sample& sample, double now) {
  storage::NewRun run;
  run.name = sample.name;
  run.target = "this-machine";
  run.recipe_name = "debug-" + sample.wrapping;
  run.recipe = recipeOf(sample);
  run.recipe_values = recipe::flatten(recipe::parse(run.recipe, run.recipe_name + ".toml").recipe);
  run.created = now - sample.hoursAgo * 3600;
  auto created = writer.create_run(run).get();
  if (!created) return fail(created);
  const storage::RunId id = created->id;
  if (auto set = writer.set_state(id, storage::RunState::running, {}, run.created + 2).get(); !set)
    return fail(set);
  for (int32_t rank = 0; rank < kRanks; ++rank) {
    auto log = logOf(recordsOf(sample, rank, run.created + 2));
    if (!log) return fail(log);
    if (auto taken = writer.ingest(id, rank, 0, 0, std::move(*log)).get(); !taken)
      return fail(taken);
  }
  if (sample.end.empty()) return id;
  const auto state = storage::run_state(sample.end).value();
  const auto set =
      writer.set_state(id, state, sample.cause, run.created + 2 + sample.steps * 0.62).get();
  if (!set) return fail(set);
  return id;
}

}  // namespace

Result<Filled> fill(const std::string& path) {
  auto writer = storage::Writer::open(path);
  if (!writer) return fail(writer);
  if (auto lease = (*writer)->take_lease(); !lease) return fail(lease);
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const Sample samples[] = {
      {"shakespeare-lr3e-4", "auto", 3e-4, 140, "stopped", "stopped by the user", 50},
      {"shakespeare-nan", "layers", 5e-3, 37, "failed",
       "rank 1 was killed by signal 9 (SIGKILL) at step 37", 26},
      {"shakespeare-none", "none", 1e-3, kSteps, "done", "", 3},
      {"shakespeare-auto", "auto", 1e-3, kSteps, "done", "", 2},
      {"shakespeare-long", "auto", 8e-4, 120, "", "", 0.02},
  };
  std::vector<storage::RunId> ids;
  for (const Sample& sample : samples) {
    auto id = add(**writer, sample, now);
    if (!id) return fail(id);
    ids.push_back(*id);
  }
  return Filled{ids[3], ids[2], ids[4], ids[1], ids[0]};
}

Result<std::vector<storage::RunId>> fillMany(const std::string& path, int runs) {
  auto writer = storage::Writer::open(path);
  if (!writer) return fail(writer);
  if (auto lease = (*writer)->take_lease(); !lease) return fail(lease);
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const char* const wrappings[] = {"auto", "layers", "none"};
  std::vector<storage::RunId> ids;
  for (int i = 0; i < runs; ++i) {
    const double lr = 3e-4 * (1 + i % 13);
    const Sample sample{fmt::format("sweep-lr{:.1e}-{}", lr, i),
                        wrappings[i % 3],
                        lr,
                        20 + i % 30,
                        "done",
                        "",
                        (runs - i) / 10.0};
    auto id = add(**writer, sample, now);
    if (!id) return fail(id);
    ids.push_back(*id);
  }
  return ids;
}

ManyRuns::ManyRuns(int runs) {
  const auto filled = fillMany(path().toStdString(), runs);
  if (!filled) qFatal("%s", filled.error().message.c_str());
  ids = QList<qint64>(filled->begin(), filled->end());
}

SampleStore::SampleStore() {
  const auto filled = fill(path().toStdString());
  if (!filled) qFatal("%s", filled.error().message.c_str());
  runs = *filled;
  auto lease = storage::Lease::acquire(path().toStdString());
  if (!lease) qFatal("%s", lease.error().message.c_str());
  lease_.emplace(std::move(*lease));
}

}  // namespace heddle::samples
