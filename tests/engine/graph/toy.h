// A model that is no Llama: two blocks of a linear layer and a SiLU, and a head, each weight
// sharded over two ranks, trained by plain gradient steps whose size a norm decides, over any
// number of micro-batches.
#pragma once

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include "engine/graph/recorder.h"
#include "engine/graph/trace_kernels.h"
#include "engine/kernels/operators.h"
#include "engine/model/parameter.h"
#include "engine/runtime/collectives.h"

/// Captures forward, backward and a clipped gradient step of the toy.
inline heddle::graph::Graph capture_toy() {
  using namespace heddle;
  graph::register_trace_kernels();
  graph::Recorder recorder;
  const model::Sharding sharding{2, "dp_shard"};
  const at::Tensor x = recorder.input("x", {3, 4}, at::kFloat);
  std::vector<model::Parameter> weights;
  std::vector<at::Tensor> sums;  // of gradients over micro-batches
  for (const auto& [name, rows] : {std::pair{"block.0", 4}, {"block.1", 4}, {"head", 3}}) {
    const std::string weight = std::string(name) + ".weight";
    weights.push_back({.name = weight,
                       .shape = {rows, 4},
                       .shard = recorder.state(weight, {sharding.shard_rows(rows), 4}, at::kFloat),
                       .sharding = sharding,
                       .reads = {}});
    sums.push_back(recorder.state(weight + ".grad", {rows, 4}, at::kFloat));
  }
  at::Tensor y = x;
  for (model::Parameter& weight : weights) {
    const graph::ModuleScope scope(weight.module());
    y = at::silu(y.mm(weight.read().t()));
  }
  const at::Tensor loss = y.sum();
  recorder.set_phase(graph::Phase::backward);
  std::vector<at::Tensor> leaves, shards, squares;
  for (const model::Parameter& weight : weights) leaves.push_back(weight.reads.front());
  const auto grads = torch::autograd::grad({loss}, leaves);
  at::NoGradGuard no_grad;
  for (size_t i = 0; i < weights.size(); ++i) {
    const graph::ModuleScope scope(weights[i].module());
    kernels::accumulate_(sums[i], grads[i]);
  }
  recorder.set_phase(graph::Phase::optimizer);
  for (size_t i = 0; i < weights.size(); ++i) {
    const graph::ModuleScope scope(weights[i].module());
    shards.push_back(
        runtime::wait(runtime::reduce_scatter({sums[i]}, {weights[i].shard.size(0)}, "dp_shard"))
            .front());
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    const graph::ModuleScope scope(weights[i].module());
    squares.push_back(kernels::squared_norms({shards[i]}).front());
  }
  const at::Tensor norm =
      runtime::wait(runtime::all_reduce({kernels::total_norm(squares)}, "sum", "dp_shard"))
          .front()
          .sqrt();
  const at::Tensor factor = kernels::clip_factor(norm, 1.0);
  for (size_t i = 0; i < weights.size(); ++i) {
    const graph::ModuleScope scope(weights[i].module());
    weights[i].shard.addcmul_(shards[i], factor, -0.1);
    sums[i].zero_();
  }
  recorder.output("loss", loss);
  recorder.output("norm", norm);
  graph::Graph graph = recorder.finish();
  graph.groups["dp_shard"] = 2;
  return graph;
}
