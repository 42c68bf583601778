#include "engine/calibrate/measure.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/clock.h"
#include "base/resident_memory.h"
#include "engine/cost/cost_model.h"
#include "engine/cost/smooth.h"
#include "engine/holdings/states.h"
#include "engine/passes/node_cost.h"
#include "engine/predict/planner.h"
#include "engine/runtime/executor.h"
#include "engine/step/capture.h"
#include "engine/step/feed.h"
#include "engine/transport/timed_work.h"

namespace heddle::calibrate {
namespace {

using Tensors = std::vector<at::Tensor>;
using Pending = c10::intrusive_ptr<c10d::Work>;

// Below it an operator's call is what takes time.
constexpr double kWorthTiming = 64 << 10;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// A bucket as training has them: some tensors, whole and as this rank's shards.
struct Bucket {
  Tensors wholes, shards;
};

// Buckets one after the other in as much memory as the largest takes: a step, too, comes back to
// what it has moved when it has moved all else, and no cache holds it any more.
class Buckets {
 public:
  Buckets(int64_t bytes, int64_t ranks)
      : ranks_(ranks),
        wholes_(at::zeros({bytes / kFloat})),
        shards_(at::zeros({bytes / kFloat / ranks})) {}

  Bucket next(int64_t bytes) {
    constexpr int64_t kTensors = 8;
    const int64_t rows = std::max<int64_t>(1, bytes / kTensors / ranks_ / kFloat);
    if ((at_ + kTensors * rows * ranks_) > wholes_.numel()) at_ = 0;
    Bucket bucket;
    for (int64_t i = 0; i < kTensors; ++i, at_ += rows * ranks_) {
      bucket.wholes.push_back(wholes_.narrow(0, at_, rows * ranks_));
      bucket.shards.push_back(shards_.narrow(0, at_ / ranks_, rows));
    }
    return bucket;
  }

 private:
  static constexpr int64_t kFloat = sizeof(float);
  const int64_t ranks_;
  const at::Tensor wholes_, shards_;
  int64_t at_ = 0;  // elements
};

// Median of several: the same number on all ranks.
template <typename Start>
double transfer_seconds(c10d::Backend& group, int64_t bytes, const Start& start) {
  const int64_t rounds = std::clamp<int64_t>((int64_t{8} << 20) / bytes, 3, 15);
  std::vector<double> seconds;
  for (int64_t i = 0; i <= rounds; ++i) {
    group.barrier()->wait();
    const auto begin = Clock::now();
    start()->wait();
    if (i > 0) seconds.push_back(seconds_since(begin));
  }
  return median(std::move(seconds));
}

struct Beside {
  double seconds = 0;  // of the collective
  double lost = 0;     // seconds that compute takes longer
};

// A collective amid products that outlast it, in turn with the products alone.
template <typename Start>
Beside measure_beside(c10d::Backend& group, int64_t rounds, const Start& start) {
  constexpr int64_t kSize = 256, kAround = 10;
  const at::Tensor a = at::ones({kSize, kSize}), b = at::ones({kSize, kSize});
  at::Tensor c = at::empty({kSize, kSize});
  const auto compute = [&](int64_t products) {
    for (int64_t i = 0; i < products; ++i) at::mm_out(c, a, b);
  };
  group.barrier()->wait();
  const Pending first = start();
  int64_t behind = kAround;
  for (const auto future = first->getFuture(); !future->completed(); ++behind) compute(1);
  first->wait();

  std::vector<double> seconds, lost;
  for (int64_t i = 0; i < rounds; ++i) {
    group.barrier()->wait();
    const auto alone = Clock::now();
    compute(kAround + behind);
    const double without = seconds_since(alone);
    group.barrier()->wait();
    const auto begin = Clock::now();
    compute(kAround);
    const auto started = Clock::now();
    const Pending work = start();
    compute(behind);
    lost.push_back(seconds_since(begin) - without);
    work->wait();
    const auto ended = dynamic_cast<const transport::TimedWork&>(*work).ended();
    seconds.push_back(std::chrono::duration<double>(ended - started).count());
  }
  return {median(std::move(seconds)), std::max(0.0, median(std::move(lost)))};
}

// Whether no rank's time is over: the same on all of them.
bool in_time(c10d::Backend& group, Deadline deadline) {
  if (deadline == kNoDeadline) return true;
  Tensors late = {at::full({1}, Clock::now() > deadline ? 1.0F : 0.0F)};
  group.allreduce(late)->wait();
  return late.front().item<float>() == 0.0F;
}

// A model whose step has an operator of each kind.
recipe::Recipe model_of(int64_t dim, int64_t layers, recipe::Precision precision,
                        recipe::Float8 float8 = recipe::Float8::none) {
  recipe::Recipe recipe;
  recipe.model.dim = dim;
  recipe.model.n_layers = layers;
  recipe.model.n_heads = dim / 64;
  recipe.model.n_kv_heads = std::max<int64_t>(1, dim / 128);
  recipe.model.ffn_dim = 3 * dim;
  recipe.model.vocab_size = 4096;
  recipe.data.seq_len = 512;
  // Products in bf16 are slow on most CPUs.
  const bool few = dim < 256 || precision == recipe::Precision::bf16;
  recipe.training.local_batch = recipe.training.global_batch = few ? 1 : 2;
  recipe.parallelism.dp_shard = 1;
  recipe.precision.param = precision;
  recipe.precision.float8 = float8;
  recipe.wrapping.mode = recipe::WrappingMode::layers;
  return recipe;
}

runtime::NamedTensors random_batch(const recipe::Recipe& recipe) {
  const int64_t b = recipe.training.local_batch, s = recipe.data.seq_len;
  const at::Tensor tokens = at::randint(recipe.model.vocab_size, {b, s}, at::kLong);
  return {{"tokens", tokens},
          {"labels", tokens},
          {"positions", at::arange(s, at::kLong).unsqueeze(0).expand({b, s}).contiguous()}};
}

struct Sum {
  double work = 0, seconds = 0;
};
// By operator, dtype and shape.
using Sums = std::map<std::tuple<std::string, std::string, std::array<int64_t, 3>>, Sum>;

// A rank alone, ready to train by the plan of its step.
Result<runtime::Executor> executor_of(const recipe::Recipe& recipe) {
  auto captured = step::capture_step(recipe);
  if (!captured) return fail(captured);
  auto plan = predict::plan_step(recipe, 0, std::move(captured->graph), {});
  if (!plan) return fail(plan);
  runtime::NamedTensors states;
  for (const graph::Binding& state : plan->graph.states) {
    const graph::Value& value = plan->graph.values[state.value];
    states[state.name] = at::zeros(value.sizes, at::TensorOptions(value.dtype));
  }
  for (const holdings::State& state : holdings::states_of(recipe, recipe::Layout(recipe), 0))
    if (state.role == holdings::Role::parameter) states.at(state.name).normal_(0.0, 0.02);
  auto program =
      runtime::Program::create(std::move(plan->graph), std::move(plan->memory), states, at::kCPU);
  if (!program) return fail(program);
  return runtime::Executor(std::move(*program));
}

Result<> add_steps(const recipe::Recipe& recipe, int steps, Sums& sums, Deadline deadline) {
  auto made = executor_of(recipe);
  if (!made) return fail(made);
  runtime::Executor& executor = *made;
  const runtime::NamedTensors step_inputs =
      step::step_tensors(recipe, recipe::Layout(recipe), 0, 0);
  const runtime::NamedTensors batch = random_batch(recipe);
  executor.run({batch}, step_inputs);
  std::vector<std::vector<double>> seconds(executor.program().instructions.size());
  for (int step = 0; step < steps; ++step) {
    if (step > 0 && Clock::now() > deadline) break;
    runtime::Timeline timeline;
    executor.run({batch}, step_inputs, &timeline);
    const auto spans = timeline.take();
    TORCH_CHECK(spans.size() == seconds.size(), "an instruction left no span");
    for (size_t i = 0; i < spans.size(); ++i)
      seconds[i].push_back(static_cast<double>(spans[i].duration_us) * 1e-6);
  }
  const graph::Graph& graph = executor.program().graph;
  for (size_t i = 0; i < seconds.size(); ++i) {
    const graph::Node& node = graph.nodes[executor.program().instructions[i].node];
    const cost::OperatorRate kind = cost::rate_class(graph, node);
    const double flops = passes::flops(graph, node);
    const auto bytes = static_cast<double>(passes::bytes_moved(graph, node));
    if (flops == 0 && bytes < kWorthTiming) continue;
    Sum& sum = sums[{kind.op, kind.dtype, kind.shape}];
    sum.work += flops > 0 ? flops : bytes;
    sum.seconds += median(seconds[i]);
  }
  return {};
}

// Sizes from 4 KiB to 128 MiB, each by the same factor more.
std::vector<int64_t> spread(int count) {
  std::vector<int64_t> sizes;
  for (int i = 0; i < count; ++i)
    sizes.push_back(std::llround(4096.0 * std::pow(2.0, 15.0 * i / (count - 1))));
  return sizes;
}

// One in so many of them, the last one too.
std::vector<int64_t> every(size_t step, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> some;
  for (size_t i = (sizes.size() - 1) % step; i < sizes.size(); i += step) some.push_back(sizes[i]);
  return some;
}

}  // namespace

Sizes many_sizes() { return {.alone = spread(25), .beside = every(2, spread(25)), .rounds = 11}; }

Sizes some_sizes() { return {.alone = spread(13), .beside = every(2, spread(13)), .rounds = 7}; }

Sizes few_sizes() { return {{4096, 256 << 10, 1 << 20, 4 << 20}, {4096, 1 << 20}, 7}; }

cost::Link measure_link(c10d::Backend& group, const std::string& transport, const Sizes& sizes,
                        Deadline deadline) {
  cost::Link link{.transport = transport, .ranks = group.getSize()};
  Buckets buckets(sizes.alone.back(), group.getSize());
  for (const int64_t bytes : sizes.alone) {
    if (!in_time(group, deadline)) break;
    const bool beside =
        std::find(sizes.beside.begin(), sizes.beside.end(), bytes) != sizes.beside.end();
    const int64_t rounds = std::clamp<int64_t>((int64_t{32} << 20) / bytes, 7, sizes.rounds);
    const auto gather = [&] {
      Bucket bucket = buckets.next(bytes);
      return group.allgather_into_tensor_coalesced(bucket.wholes, bucket.shards);
    };
    const auto scatter = [&] {
      Bucket bucket = buckets.next(bytes);
      return group.reduce_scatter_tensor_coalesced(bucket.shards, bucket.wholes);
    };
    const auto measure = [&](const auto& start, cost::CollectiveTimes& times) {
      times.alone.push_back({bytes, transfer_seconds(group, bytes, start)});
      if (!beside) return;
      const auto [seconds, lost] = measure_beside(group, rounds, start);
      times.beside_compute.push_back({bytes, std::max(seconds, times.alone.back().seconds)});
      times.lost.push_back({bytes, lost});
    };
    measure(gather, link.all_gather);
    measure(scatter, link.reduce_scatter);
  }
  for (cost::CollectiveTimes* times : {&link.all_gather, &link.reduce_scatter})
    *times = cost::smooth(*times);
  return link;
}

Result<int64_t> measure_process() {
  // The tokenizer of a small vocabulary and the text, the telemetry, what planning leaves behind
  // (measured: ten to sixteen megabytes over ten recipes of 4,096 words).
  constexpr int64_t kTraining = 16'000'000;
  const recipe::Recipe recipe = model_of(512, 2, recipe::Precision::fp32);
  auto executor = executor_of(recipe);
  if (!executor) return fail(executor);
  executor->run({random_batch(recipe)}, step::step_tensors(recipe, recipe::Layout(recipe), 0, 0));
  const runtime::Program& program = executor->program();
  int64_t planned = program.arena->bytes();
  for (const graph::Binding& state : program.graph.states)
    planned += program.graph.values[state.value].bytes();
  return resident_bytes() - planned + kTraining;
}

Result<Operators> measure_operators(Deadline deadline) {
  using recipe::Precision, recipe::Float8;
  struct Model {
    const char* words;
    recipe::Recipe recipe;
    int steps;
  };
  const std::vector<Model> models = {
      {"operators of narrow models", model_of(128, 1, Precision::fp32), 8},
      {"operators of wider models", model_of(512, 2, Precision::fp32), 5},
      {"operators in bf16", model_of(512, 1, Precision::bf16), 2},
      {"operators of wide models", model_of(1024, 1, Precision::fp32), 3},
      {"products in 8 bits", model_of(512, 1, Precision::bf16, Float8::tensorwise), 2}};
  Operators operators;
  Sums sums;
  for (const Model& model : models) {
    if (!sums.empty() && Clock::now() > deadline)
      operators.left_out.emplace_back(model.words);
    else if (const auto added = add_steps(model.recipe, model.steps, sums, deadline); !added)
      return fail(added);
  }
  for (const auto& [kind, sum] : sums)
    operators.rates.push_back({std::get<0>(kind), std::get<1>(kind), std::get<2>(kind),
                               sum.work / std::max(sum.seconds, 1e-6)});
  return operators;
}

}  // namespace heddle::calibrate
