#include "engine/step/step.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <torch/csrc/autograd/autograd.h>

#include <map>

#include "engine/graph/recorder.h"
#include "engine/holdings/parameters.h"
#include "engine/holdings/states.h"
#include "engine/kernels/operators.h"
#include "engine/optim/optimizer.h"
#include "engine/recipe/loss_chunks.h"
#include "engine/runtime/collectives.h"
#include "engine/step/update_operators.h"

namespace heddle::step {
namespace {

void begin_phase(graph::Phase phase) {
  if (graph::Recorder* recorder = graph::Recorder::current()) recorder->set_phase(phase);
}

}  // namespace

StepSettings settings_of(const recipe::Recipe& recipe) {
  auto dtype = [](recipe::Precision precision) {
    return precision == recipe::Precision::bf16 ? c10::kBFloat16 : c10::kFloat;
  };
  const recipe::Layout layout(recipe);
  const recipe::Mesh& mesh = layout.mesh();
  return {.recipe = recipe,
          .layout = layout,
          .parameters = holdings::parameters_of(recipe, layout),
          .float8 = recipe::Float8Layers(recipe.precision, recipe.model.tied_embeddings),
          .parallelism = {.sharding = {mesh.size(recipe::kSharing), mesh.name(recipe::kSharing),
                                       dtype(recipe.precision.param)},
                          .tensor = {{mesh.size(recipe::kTp), mesh.name(recipe::kTp)},
                                     recipe.parallelism.sequence_parallel,
                                     recipe.parallelism.tp_chunks},
                          .context = {{mesh.size(recipe::kCp), mesh.name(recipe::kCp)},
                                      recipe.parallelism.cp_mode}},
          .reduce = dtype(recipe.precision.reduce),
          .work = Work::train};
}

Step::Step(model::Llama& model, const StepSettings& settings, const model::MakeState& make_state)
    : model_(model),
      settings_(settings),
      sums_(settings.recipe.micro_batches() > 1),
      sums_shards_(settings.recipe.wrapping.reduce_each == recipe::ReduceEach::micro_batch),
      loss_chunks_(recipe::loss_chunks(settings.recipe)) {
  const recipe::Recipe& recipe = settings_.recipe;
  if (settings.work == Work::validate) {
    loss_sum_ = make_state(holdings::validation_loss_sum());
    return;
  }
  auto row = settings_.parameters.begin();
  for (model::Parameter* parameter : model.parameters()) {
    State state{parameter, &*row++, {}, {}, {}};
    if (settings.work == Work::train)
      for (const holdings::State& each : holdings::optimizer_states(recipe, *state.row))
        state.kept.push_back(make_state(each));
    if (sums_) state.sum = make_state(holdings::gradient_sum(recipe, *state.row));
    states_.push_back(std::move(state));
  }
  loss_sum_ = make_state(holdings::loss_sum());
}

at::Tensor Step::forward(const model::Batch& batch, const at::Tensor& token_count) {
  begin_phase(graph::Phase::forward);
  // Each pipeline stage has weights of its own.
  std::map<int64_t, std::vector<model::Parameter*>> stages;
  auto row = settings_.parameters.begin();
  for (model::Parameter* parameter : model_.parameters())
    stages[(row++)->stage].push_back(parameter);
  for (const auto& [stage, parameters] : stages) model::find_largest(parameters);
  const model::Llama::Hidden hidden = model_.forward(batch);
  if (settings_.work == Work::train && loss_chunks_ > 1) {
    // Gradients are made with the loss, which nothing of forward reads: backward begins here.
    begin_phase(graph::Phase::backward);
    return model_.loss_in_chunks(hidden, batch, token_count, loss_chunks_);
  }
  const at::Tensor logits = model_.logits(hidden);
  if (settings_.work != Work::train) logits_ = logits.detach().to(at::kFloat);
  return model_.loss(logits, batch) / token_count;
}

runtime::NamedTensors Step::validate(const model::Batch& batch, const at::Tensor& token_count) {
  at::NoGradGuard no_grad;
  kernels::accumulate_(loss_sum_, forward(batch, token_count));
  for (model::Parameter* parameter : model_.parameters()) parameter->reads.clear();
  begin_phase(graph::Phase::optimizer);
  runtime::NamedTensors outputs;
  outputs["loss"] = all_reduced(loss_sum_, "sum", recipe::kTokens | recipe::kPp).clone();
  outputs["logits"] = logits_;
  loss_sum_.zero_();
  return outputs;
}

void Step::micro_batch(const model::Batch& batch, const at::Tensor& token_count) {
  const at::Tensor loss = forward(batch, token_count);
  begin_phase(graph::Phase::backward);
  std::vector<at::Tensor> leaves;
  for (const State& state : states_)
    leaves.insert(leaves.end(), state.parameter->reads.begin(), state.parameter->reads.end());
  const auto grads = torch::autograd::grad({loss}, leaves);

  at::NoGradGuard no_grad;
  kernels::accumulate_(loss_sum_, loss.detach());
  auto next = grads.begin();
  for (State& state : states_) {
    const graph::ModuleScope scope(state.parameter->module());
    at::Tensor grad = *next++;
    for (size_t i = 1; i < state.parameter->reads.size(); ++i) grad = grad + *next++;
    state.parameter->reads.clear();
    if (!sums_) {
      state.grad = summed(state, scattered(state, grad));
    } else {
      kernels::accumulate_(state.sum, sums_shards_ ? scattered(state, grad) : grad);
    }
  }
}

// Sums a whole gradient over the ranks that share the parameter; each gets its shard.
at::Tensor Step::scattered(const State& state, at::Tensor grad) const {
  const model::Sharding& sharding = settings_.parallelism.sharding;
  if (settings_.layout.mesh().size(recipe::kTokens) > 1) grad = grad.to(settings_.reduce);
  if (sharding.ranks == 1) return grad;
  return runtime::wait(runtime::reduce_scatter({grad.contiguous()},
                                               {state.parameter->shard.size(0)}, sharding.group))
      .front();
}

// Sums a shard over the groups that have the other parts of it.
at::Tensor Step::summed(const State& state, at::Tensor shard) const {
  for (const std::string& group : state.row->summed_over)
    shard = runtime::wait(runtime::all_reduce({shard.to(settings_.reduce)}, "sum", group)).front();
  return shard.to(at::kFloat);
}

at::Tensor Step::all_reduced(const at::Tensor& value, const char* reduction,
                             recipe::Dims dims) const {
  if (settings_.layout.mesh().size(dims) == 1) return value;
  return runtime::wait(runtime::all_reduce({value}, reduction, settings_.layout.mesh().name(dims)))
      .front();
}

// The whole gradient's squared norm. Each element counts once: replicas hold the same shards, and
// tensor-parallel ranks hold uncut parameters alike.
at::Tensor Step::norm() const {
  std::vector<at::Tensor> cut, whole;
  const int64_t tp = settings_.layout.mesh().size(recipe::kTp);
  for (const State& state : states_) {
    const graph::ModuleScope scope(state.parameter->module());
    if (!state.row->copy_of.empty()) continue;  // the original's gradient is the same
    (tp == 1 || state.row->is_cut() ? cut : whole)
        .push_back(kernels::squared_norms({state.grad}).front());
  }
  at::Tensor square = kernels::total_norm(cut);
  if (!whole.empty()) square = square + kernels::total_norm(whole) / static_cast<double>(tp);
  return all_reduced(square, "sum", recipe::kModel).sqrt();
}

runtime::NamedTensors Step::update(const at::Tensor& lr, const at::Tensor& step_number,
                                   const at::Tensor& asked) {
  at::NoGradGuard no_grad;
  begin_phase(graph::Phase::optimizer);
  if (sums_) {
    for (State& state : states_) {
      const graph::ModuleScope scope(state.parameter->module());
      state.grad = summed(state, sums_shards_ ? state.sum : scattered(state, state.sum));
    }
  }
  const at::Tensor norm = this->norm();
  const recipe::Mesh& mesh = settings_.layout.mesh();
  const auto ranks = static_cast<double>(mesh.size(recipe::kTokens));
  runtime::NamedTensors outputs;
  outputs["grad_norm"] = norm;
  outputs["loss"] = all_reduced(loss_sum_, "sum", recipe::kTokens | recipe::kPp).clone();
  const std::vector<at::Tensor> own{loss_sum_, asked};
  const auto most = mesh.size() == 1
                        ? own
                        : runtime::wait(runtime::all_reduce(own, "max", mesh.name(recipe::kWorld)));
  outputs["loss_max"] = most[0] * ranks;
  outputs["asked"] = most[1];
  loss_sum_.zero_();

  // Without clipping no update has to wait for the norm: the passes move it into backward.
  const double max_norm = settings_.recipe.training.max_norm;
  const at::Tensor factor = max_norm > 0 ? kernels::clip_factor(norm, max_norm)
                                         : at::ones({}, norm.options().dtype(at::kFloat));
  std::map<double, at::Tensor> rates = {{1.0, lr}};  // by what a parameter's is of the usual one
  const auto rate_of = [&](const holdings::UpdateRule& rule) {
    const double part = rule.lr / settings_.recipe.optimizer.lr;
    const auto found = rates.find(part);
    return found == rates.end() ? rates.emplace(part, lr * part).first->second : found->second;
  };
  const optim::Optimizer& optimizer = optim::optimizer_of(settings_.recipe.optimizer.name);
  for (State& state : states_) {
    const holdings::UpdateRule& rule = state.row->rule;
    const at::Tensor rate = settings_.work == Work::train ? rate_of(rule) : lr;
    const graph::ModuleScope scope(state.parameter->module());
    if (settings_.work == Work::evaluate) {
      outputs["grad." + state.parameter->name] = state.grad;
      continue;
    }
    UpdateOperators operators;
    std::vector<optim::Value> kept;
    for (const at::Tensor& each : state.kept) kept.push_back(operators.add(each));
    optimizer.update(operators,
                     {.parameter = operators.add(state.parameter->shard),
                      .states = std::move(kept),
                      .gradient = operators.add(state.grad),
                      .rate = operators.add(rate),
                      .step = operators.add(step_number),
                      .factor = operators.add(factor),
                      .weight_decay = rule.weight_decay},
                     settings_.recipe.optimizer.settings);
    if (sums_) state.sum.zero_();
  }
  if (settings_.work == Work::evaluate) outputs["logits"] = logits_;
  return outputs;
}

}  // namespace heddle::step
