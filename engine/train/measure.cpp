#include "engine/train/measure.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/clock.h"
#include "engine/cost/cost_model.h"
#include "engine/passes/node_cost.h"
#include "engine/runtime/executor.h"
#include "engine/train/capture.h"
#include "engine/train/planner.h"

namespace heddle::train {
namespace {

using Tensors = std::vector<at::Tensor>;
using Work = c10::intrusive_ptr<c10d::Work>;

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

Bucket make_bucket(int64_t bytes, int64_t ranks) {
  constexpr int64_t kTensors = 8;
  Bucket bucket;
  const int64_t elements =
      std::max<int64_t>(1, bytes / kTensors / ranks / static_cast<int64_t>(sizeof(float)));
  for (int64_t i = 0; i < kTensors; ++i) {
    bucket.wholes.push_back(at::zeros({elements * ranks}));
    bucket.shards.push_back(at::zeros({elements}));
  }
  return bucket;
}

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
  double seconds = 0;     // of the gather
  double contention = 0;  // the share of its speed that compute loses
};

// A gather while the caller computes until it is over.
Beside measure_beside(c10d::Backend& group, int64_t bytes) {
  constexpr int kRounds = 9, kProducts = 100;
  Bucket bucket = make_bucket(bytes, group.getSize());
  const at::Tensor a = at::ones({128, 128}), b = at::ones({128, 128});
  at::Tensor c = at::empty({128, 128});
  std::vector<double> seconds, contention;
  for (int i = 0; i <= kRounds; ++i) {
    group.barrier()->wait();
    const auto alone = Clock::now();
    for (int j = 0; j < kProducts; ++j) at::mm_out(c, a, b);
    const double product = seconds_since(alone) / kProducts;
    group.barrier()->wait();
    const auto begin = Clock::now();
    const Work work = group.allgather_into_tensor_coalesced(bucket.wholes, bucket.shards);
    int products = 0;
    for (const auto future = work->getFuture(); !future->completed(); ++products)
      at::mm_out(c, a, b);
    const double computed = seconds_since(begin);
    work->wait();
    if (i == 0) continue;  // memory touched for the first time
    seconds.push_back(computed);
    contention.push_back(1.0 - products * product / computed);
  }
  return {median(std::move(seconds)), std::clamp(median(std::move(contention)), 0.0, 0.9)};
}

// A model whose step has an operator of each kind.
recipe::Recipe model_of(int64_t dim, int64_t layers, recipe::Precision precision) {
  recipe::Recipe recipe;
  recipe.model.dim = dim;
  recipe.model.n_layers = layers;
  recipe.model.n_heads = dim / 64;
  recipe.model.n_kv_heads = std::max<int64_t>(1, dim / 128);
  recipe.model.ffn_dim = 3 * dim;
  recipe.model.vocab_size = 4096;
  recipe.data.seq_len = 512;
  recipe.training.local_batch = recipe.training.global_batch = dim < 256 ? 1 : 2;
  recipe.parallelism.dp_shard = 1;
  recipe.precision.param = precision;
  recipe.wrapping.mode = recipe::WrappingMode::layers;
  return recipe;
}

runtime::NamedTensors batch_of(const recipe::Recipe& recipe) {
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

Result<> add_steps(const recipe::Recipe& recipe, int steps, Sums& sums) {
  auto captured = capture_step(recipe);
  if (!captured) return fail(captured);
  auto plan = plan_step(recipe, 0, std::move(captured->graph), {});
  if (!plan) return fail(plan);
  runtime::NamedTensors states;
  for (const graph::Binding& state : plan->graph.states) {
    const graph::Value& value = plan->graph.values[state.value];
    at::Tensor& tensor = states[state.name];
    tensor = at::zeros(value.sizes, at::TensorOptions(value.dtype));
    if (state.name.ends_with(".weight")) tensor.normal_(0.0, 0.02);
  }
  auto program =
      runtime::Program::create(std::move(plan->graph), std::move(plan->memory), states, at::kCPU);
  if (!program) return fail(program);
  runtime::Executor executor(std::move(*program));
  const runtime::NamedTensors step_inputs = {{"token_count", at::scalar_tensor(1024.0, at::kFloat)},
                                             {"lr", at::scalar_tensor(1e-4, at::kDouble)},
                                             {"step", at::scalar_tensor(1, at::kLong)}};
  const runtime::NamedTensors batch = batch_of(recipe);
  executor.run({batch}, step_inputs);
  std::vector<std::vector<double>> seconds(executor.program().instructions.size());
  for (int step = 0; step < steps; ++step) {
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

}  // namespace

std::vector<int64_t> many_sizes() {
  constexpr int kSizes = 40;
  std::vector<int64_t> sizes;
  for (int i = 0; i < kSizes; ++i)
    sizes.push_back(std::llround(4096.0 * std::pow(2.0, 15.0 * i / (kSizes - 1))));
  return sizes;
}

std::vector<int64_t> few_sizes() { return {4096, 256 << 10, 1 << 20, 4 << 20}; }

cost::Link measure_link(c10d::Backend& group, const std::string& transport,
                        const std::vector<int64_t>& sizes) {
  cost::Link link{transport, group.getSize(), {}, {}, {}, 0};
  for (const int64_t bytes : sizes) {
    Bucket bucket = make_bucket(bytes, group.getSize());
    link.all_gather.push_back({bytes, transfer_seconds(group, bytes, [&] {
                                 return group.allgather_into_tensor_coalesced(bucket.wholes,
                                                                              bucket.shards);
                               })});
    link.reduce_scatter.push_back({bytes, transfer_seconds(group, bytes, [&] {
                                     return group.reduce_scatter_tensor_coalesced(bucket.shards,
                                                                                  bucket.wholes);
                                   })});
  }
  for (const int64_t bytes : {sizes.front(), sizes.back() / 64, sizes.back() / 8, sizes.back()}) {
    const Beside beside = measure_beside(group, bytes);
    link.beside_compute.push_back({bytes, beside.seconds});
    if (bytes == sizes.front()) link.start_seconds = beside.contention * beside.seconds;
    link.contention = beside.contention;  // of the largest
  }
  return link;
}

Result<std::vector<cost::OperatorRate>> measure_operators() {
  using recipe::Precision;
  Sums sums;
  for (const auto& [dim, layers, precision, steps] : {std::tuple{128, 1, Precision::fp32, 8},
                                                      {512, 2, Precision::fp32, 5},
                                                      {1024, 1, Precision::fp32, 3},
                                                      {512, 1, Precision::bf16, 3}})
    if (const auto added = add_steps(model_of(dim, layers, precision), steps, sums); !added)
      return fail(added);
  std::vector<cost::OperatorRate> rates;
  for (const auto& [kind, sum] : sums)
    rates.push_back({std::get<0>(kind), std::get<1>(kind), std::get<2>(kind),
                     sum.work / std::max(sum.seconds, 1e-6)});
  return rates;
}

}  // namespace heddle::train
