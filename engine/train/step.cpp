#include "engine/train/step.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include "engine/graph/recorder.h"
#include "engine/runtime/collectives.h"
#include "engine/runtime/process_groups.h"

namespace heddle::train {
namespace {

void begin_phase(graph::Phase phase) {
  if (graph::Recorder* recorder = graph::Recorder::current()) recorder->set_phase(phase);
}

// "layers.0.attention.wq" of "layers.0.attention.wq.weight".
std::string module_of(const model::Parameter& parameter) {
  return parameter.name.substr(0, parameter.name.rfind('.'));
}

}  // namespace

StepSettings settings_of(const recipe::Recipe& recipe) {
  return {.micro_batches = recipe.accumulation(),
          .max_norm = recipe.training.max_norm,
          .adamw = {recipe.optimizer.beta1, recipe.optimizer.beta2, recipe.optimizer.eps,
                    recipe.optimizer.weight_decay},
          .sharding = {recipe.parallelism.dp_shard, runtime::kShardGroup},
          .evaluate = false};
}

Step::Step(model::Llama& model, const StepSettings& settings, const MakeState& make_state)
    : model_(model), settings_(settings) {
  for (model::Parameter* parameter : model.parameters()) {
    parameter->shard.set_requires_grad(true);
    State state{parameter, {}, {}, {}};
    const std::vector<int64_t> sizes = parameter->shard.sizes().vec();
    if (!settings.evaluate) {
      state.exp_avg = make_state(parameter->name + ".exp_avg", sizes);
      state.exp_avg_sq = make_state(parameter->name + ".exp_avg_sq", sizes);
    }
    if (settings.micro_batches > 1) state.grad = make_state(parameter->name + ".grad", sizes);
    states_.push_back(std::move(state));
  }
  loss_sum_ = make_state("loss_sum", {});
}

void Step::micro_batch(const at::Tensor& tokens, const at::Tensor& labels,
                       const at::Tensor& positions, const at::Tensor& token_count) {
  begin_phase(graph::Phase::forward);
  at::Tensor loss;
  {
    const at::Tensor logits = model_.forward(tokens, positions);
    const graph::ModuleScope scope("loss");
    loss = kernels::cross_entropy(logits, labels.reshape({-1})) / token_count;
    if (settings_.evaluate) logits_ = logits.detach();
  }
  begin_phase(graph::Phase::backward);
  std::vector<at::Tensor> shards;
  for (const State& state : states_) shards.push_back(state.parameter->shard);
  const auto grads = torch::autograd::grad({loss}, shards);

  at::NoGradGuard no_grad;
  kernels::accumulate_(loss_sum_, loss.detach());
  for (size_t i = 0; i < states_.size(); ++i) {
    if (settings_.micro_batches == 1) {
      states_[i].grad = grads[i];
    } else {
      const graph::ModuleScope scope(states_[i].parameter->name);
      kernels::accumulate_(states_[i].grad, grads[i]);
    }
  }
}

at::Tensor Step::reduced(const at::Tensor& value, const char* reduction) const {
  if (settings_.sharding.ranks == 1) return value;
  return runtime::wait(runtime::all_reduce(value, reduction, settings_.sharding.group));
}

runtime::NamedTensors Step::update(const at::Tensor& lr, const at::Tensor& step_number) {
  at::NoGradGuard no_grad;
  begin_phase(graph::Phase::optimizer);
  runtime::NamedTensors outputs;
  std::vector<at::Tensor> squared_norms;
  for (const State& state : states_) {
    const graph::ModuleScope scope(module_of(*state.parameter));
    squared_norms.push_back(kernels::squared_norms({state.grad}).front());
  }
  const at::Tensor norm = reduced(kernels::total_norm(squared_norms), "sum").sqrt();
  outputs["grad_norm"] = norm;
  outputs["loss"] = reduced(loss_sum_, "sum").clone();
  outputs["loss_max"] = reduced(loss_sum_, "max") * static_cast<double>(settings_.sharding.ranks);
  loss_sum_.zero_();

  const at::Tensor factor = kernels::clip_factor(norm, settings_.max_norm);
  for (State& state : states_) {
    const graph::ModuleScope scope(module_of(*state.parameter));
    if (settings_.evaluate) {
      outputs["grad." + state.parameter->name] = state.grad;
      continue;
    }
    kernels::adamw_({state.parameter->shard}, {state.exp_avg}, {state.exp_avg_sq}, {state.grad}, lr,
                    step_number, factor, settings_.adamw);
    if (settings_.micro_batches > 1) state.grad.zero_();
  }
  if (settings_.evaluate) outputs["logits"] = logits_;
  return outputs;
}

}  // namespace heddle::train
