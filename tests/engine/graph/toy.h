// A model that is no Llama: two linear layers with a SiLU between them, one of them sharded.
#pragma once

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include "engine/graph/recorder.h"
#include "engine/graph/trace_kernels.h"
#include "engine/model/parameter.h"

/// Captures forward, backward and a plain gradient step of the toy.
inline heddle::graph::Graph capture_toy() {
  using namespace heddle;
  graph::register_trace_kernels();
  graph::Recorder recorder;
  const at::Tensor x = recorder.input("x", {3, 4}, at::kFloat);
  model::Parameter first{
      "first.weight", {5, 4}, recorder.state("first.weight", {3, 4}, at::kFloat), {2, "dp_shard"}};
  const at::Tensor second = recorder.state("second.weight", {2, 5}, at::kFloat);
  first.shard.set_requires_grad(true);
  second.set_requires_grad(true);
  at::Tensor loss;
  {
    const graph::ModuleScope scope("first");
    loss = at::silu(x.mm(first.read().t()));
  }
  {
    const graph::ModuleScope scope("second");
    loss = (loss.mm(second.t()) * 0.5).sum();
  }
  recorder.set_phase(graph::Phase::backward);
  const auto grads = torch::autograd::grad({loss}, {first.shard, second});
  at::NoGradGuard no_grad;
  recorder.set_phase(graph::Phase::optimizer);
  first.shard.sub_(grads[0], 0.1);
  second.sub_(grads[1], 0.1);
  recorder.output("loss", loss);
  return recorder.finish();
}
