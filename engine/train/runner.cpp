#include "engine/train/runner.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include <optional>

#include "base/clock.h"
#include "base/resident_memory.h"
#include "engine/graph/text.h"
#include "engine/holdings/states.h"
#include "engine/predict/plan_hash.h"
#include "engine/predict/planner.h"
#include "engine/runtime/device.h"
#include "engine/step/capture.h"
#include "engine/step/feed.h"
#include "engine/step/graph_file.h"
#include "engine/step/states.h"
#include "engine/step/step.h"
#include "engine/train/results.h"

namespace heddle::train {
namespace {

using runtime::NamedTensors;

class EagerRunner final : public Runner {
 public:
  EagerRunner(const recipe::Recipe& recipe, step::StepSettings settings, c10::Device device)
      : device_(device) {
    const auto make = [this, device](const holdings::State& state) {
      const auto type = at::TensorOptions(step::dtype_of(state.element));
      return states[state.name] = at::zeros(state.shape, type.device(device));
    };
    model_ = std::make_unique<model::Llama>(recipe.model, settings.parallelism, settings.float8,
                                            settings.parameters, make(holdings::rope_table(recipe)),
                                            make);
    step_ = std::make_unique<step::Step>(*model_, settings, make);
    settings.work = step::Work::validate;
    if (recipe.validation.every > 0)
      validation_ = std::make_unique<step::Step>(*model_, settings, make);
  }

  NamedTensors run(const std::vector<NamedTensors>& micro_batches, const NamedTensors& inputs,
                   runtime::Timeline*) override {
    for (const NamedTensors& batch : micro_batches)
      step_->micro_batch(step::batch_of(on_device(batch, inputs)), inputs.at("token_count"));
    if (before_update_) before_update_();
    return step_->update(inputs.at("lr"), inputs.at("step"), inputs.at("asked").to(device_));
  }
  void launch(const std::vector<NamedTensors>& micro_batches, const NamedTensors& inputs,
              runtime::Timeline* timeline) override {
    outputs_ = run(micro_batches, inputs, timeline);
  }
  NamedTensors finish() override { return outputs_; }
  NamedTensors validate(const NamedTensors& batch, const NamedTensors& inputs) override {
    return validation_->validate(step::batch_of(on_device(batch, inputs)),
                                 inputs.at("token_count"));
  }
  int64_t model_forward_calls() const override { return model_->forward_calls(); }
  void set_before_update(std::function<void()> before) override {
    before_update_ = std::move(before);
  }

 private:
  // All inputs. Numbers stay on the CPU, from where operators of any device take them.
  NamedTensors on_device(NamedTensors batch, const NamedTensors& inputs) const {
    batch.insert(inputs.begin(), inputs.end());
    for (auto& [name, tensor] : batch)
      if (tensor.dim() > 0) tensor = tensor.to(device_);
    return batch;
  }

  c10::Device device_;
  NamedTensors outputs_;  // of the newest step
  std::unique_ptr<model::Llama> model_;
  std::unique_ptr<step::Step> step_, validation_;
  std::function<void()> before_update_;
};

class PlannedRunner final : public Runner {
 public:
  PlannedRunner(runtime::Executor executor, std::optional<runtime::Executor> validation,
                runtime::Arena states, int64_t forward_calls)
      : states_(std::move(states)),
        executor_(std::move(executor)),
        validation_(std::move(validation)),
        forward_calls_(forward_calls) {}

  NamedTensors run(const std::vector<NamedTensors>& micro_batches, const NamedTensors& inputs,
                   runtime::Timeline* timeline) override {
    join_pages();
    return executor_.run(micro_batches, inputs, timeline);
  }
  void launch(const std::vector<NamedTensors>& micro_batches, const NamedTensors& inputs,
              runtime::Timeline* timeline) override {
    join_pages();
    executor_.launch(micro_batches, inputs, timeline);
  }
  NamedTensors finish() override { return executor_.finish(); }
  int64_t ahead() const override { return executor_.ahead(); }
  NamedTensors validate(const NamedTensors& batch, const NamedTensors& inputs) override {
    executor_.lend_arena();
    return validation_->run({batch}, inputs, nullptr);
  }
  int64_t model_forward_calls() const override { return forward_calls_; }
  std::string first_non_finite(const std::vector<NamedTensors>& micro_batches,
                               const NamedTensors& inputs) override {
    return executor_.first_non_finite(micro_batches, inputs);
  }
  void set_before_update(std::function<void()> before) override {
    executor_.set_before_update(std::move(before));
  }
  const runtime::Executor* executor() const override { return &executor_; }
  std::vector<std::string> take_warnings() override { return executor_.take_warnings(); }

 private:
  // Not before the first step, which is waited for.
  void join_pages() {
    if (++runs_ != 2) return;
    executor_.join_pages();
    states_.join_pages();
  }

  runtime::Arena states_;  // holds the states' tensors
  int64_t runs_ = 0;
  runtime::Executor executor_;
  std::optional<runtime::Executor> validation_;
  int64_t forward_calls_;
};

Result<predict::PlannedStep> read_and_plan(const std::string& path, const recipe::Recipe& recipe,
                                           int64_t rank, const cost::Rates& rates,
                                           int64_t validation_bytes) {
  auto graph = step::read_graph_file(path, recipe);
  if (!graph) return fail(graph);
  const auto nodes = static_cast<int64_t>(graph->nodes.size());
  auto plan = predict::plan_step(recipe, rank, std::move(*graph), rates, "", validation_bytes);
  if (!plan) return fail(plan);
  return predict::PlannedStep{step::Captured{{}, 0.0, 0, nodes}, std::move(*plan)};
}

// Bytes of the whole tensors, padding included: as the executor counts them.
int64_t collective_bytes(const passes::Plan& plan) {
  int64_t bytes = 0;
  for (const graph::Node& node : plan.graph.nodes) {
    if (!graph::is_collective(node)) continue;
    if (graph::is_receive(node)) {
      bytes += plan.graph.values[node.outputs.front()].bytes();
      continue;
    }
    const auto& read = graph::list_of(node);
    const int64_t ranks = graph::ranks_of(plan.graph, node);
    for (size_t i = 0; i < read.size(); ++i) {
      const int64_t from = plan.graph.values[read[i].value].bytes();
      const int64_t to = plan.graph.values[node.outputs[i]].bytes();
      bytes += graph::gathers(node) ? ranks * from : graph::scatters(node) ? ranks * to : to;
    }
  }
  return bytes;
}

// Puts the graph's states side by side, the arena being null into nowhere. Returns the bytes.
int64_t place_states(const graph::Graph& graph, const runtime::Arena* arena, c10::Device device,
                     NamedTensors* states) {
  const int64_t align = device.is_cuda() ? passes::kGpuAlignment : passes::kHostAlignment;
  int64_t offset = 0;
  for (const graph::Binding& state : graph.states) {
    const graph::Value& value = graph.values[state.value];
    if (arena)
      (*states)[state.name] = at::from_blob(arena->at(offset), value.sizes,
                                            at::TensorOptions(value.dtype).device(device));
    offset += (value.bytes() + align - 1) / align * align;
  }
  return offset;
}

// The libraries behind products make their threads, buffers and code at their first one, for fp32
// and bf16 apart: before the step, where they count.
void warm_up(const recipe::Recipe& recipe, c10::Device device) {
  const at::Tensor a = at::zeros({512, 512}, at::TensorOptions(at::kFloat).device(device));
  a.mm(a);
  if (recipe.precision.param != recipe::Precision::bf16) return;
  const at::Tensor b = a.to(at::kBFloat16);
  b.mm(b);
}

// Bytes of the libraries' code that operators page in when they first run, and of what the
// libraries keep for them; of those for bf16, oneDNN's, as much again (LibTorch 2.11, x86-64).
int64_t operators_bytes(const recipe::Recipe& recipe) {
  constexpr int64_t kOperators = 5'000'000;
  return recipe.precision.param == recipe::Precision::bf16 ? 2 * kOperators : kOperators;
}

// On the weights of training, and in its arena.
Result<std::optional<runtime::Executor>> make_validation(passes::Plan plan, NamedTensors& states,
                                                         c10::Device device,
                                                         std::shared_ptr<runtime::Arena> arena) {
  graph::Graph& graph = plan.graph;
  if (graph.nodes.empty()) return std::nullopt;
  for (const graph::Binding& state : graph.states)
    if (!states.contains(state.name))
      states[state.name] =
          at::zeros(graph.values[state.value].sizes,
                    at::TensorOptions(graph.values[state.value].dtype).device(device));
  auto program = runtime::Program::create(std::move(graph), std::move(plan.memory), states, device,
                                          std::move(arena));
  if (!program) return fail(program);
  return runtime::Executor(std::move(*program), runtime::make_device_run(device));
}

Result<std::unique_ptr<Runner>> make_planned(const recipe::Recipe& recipe,
                                             const runs::RankContext& context,
                                             const cost::Rates& rates, c10::Device device) {
  const runs::Launch& launch = context.launch;
  const step::Work work = launch.eval_to.empty() ? step::Work::train : step::Work::evaluate;
  const auto begin = Clock::now();
  // First, since the two share an arena.
  auto validation_plan = predict::plan_validation(recipe, context.rank, rates);
  if (!validation_plan) return fail(validation_plan);
  const int64_t validation_bytes = validation_plan->memory.arena_bytes;
  auto planned =
      launch.graph_file.empty()
          ? predict::capture_and_plan(recipe, context.rank, rates, work, validation_bytes)
          : read_and_plan(launch.graph_file, recipe, context.rank, rates, validation_bytes);
  if (!planned) return fail(planned);
  const step::Captured& captured = planned->captured;
  passes::Plan& plan = planned->plan;
  RunnerFacts facts{.capture_seconds = captured.seconds,
                    .nodes = captured.nodes,
                    .collectives = graph::collectives_per_step(plan.graph),
                    .collective_bytes = collective_bytes(plan),
                    .arena_bytes = plan.memory.arena_bytes,
                    .rates = rates,
                    .expected = {},
                    .plan = predict::plan_text(plan.graph),
                    .plan_hash = {},
                    .choice = plan.graph.notes["plan"],
                    .warnings = {}};
  auto state_arena =
      runtime::Arena::create(place_states(plan.graph, nullptr, device, nullptr), device);
  if (!state_arena) return fail(state_arena);
  NamedTensors states;
  facts.state_bytes = place_states(plan.graph, &*state_arena, device, &states);
  auto made = runtime::Arena::create(std::max(facts.arena_bytes, validation_bytes), device);
  if (!made) return fail(made);
  const auto arena = std::make_shared<runtime::Arena>(std::move(*made));
  auto program = runtime::Program::create(std::move(plan.graph), std::move(plan.memory), states,
                                          device, arena);
  if (!program) return fail(program);
  auto validation = make_validation(std::move(*validation_plan), states, device, arena);
  if (!validation) return fail(validation);
  // Arenas and states have been touched: they are resident now, and so is what the BLAS needs.
  warm_up(recipe, device);
  runtime::Executor executor(std::move(*program), runtime::make_device_run(device));
  facts.predicted_peak_bytes =
      device.is_cpu() ? resident_bytes() + operators_bytes(recipe) : executor.device().peak_bytes();
  if (const auto done = executor.register_memory(*state_arena); !done)
    facts.warnings.push_back(done.error().message);
  auto runner =
      std::make_unique<PlannedRunner>(std::move(executor), std::move(*validation),
                                      std::move(*state_arena), captured.model_forward_calls);
  runner->states = std::move(states);
  runner->facts = std::move(facts);
  runner->facts.plan_seconds = seconds_since(begin) - captured.seconds;
  return runner;
}

}  // namespace

int64_t Runner::peak_bytes() const {
  return executor() ? executor()->device().peak_bytes() : peak_resident_bytes();
}

int64_t Runner::peak_reserved_bytes() const {
  return executor() ? executor()->device().peak_reserved_bytes() : peak_resident_bytes();
}

Result<std::unique_ptr<Runner>> make_runner(const recipe::Recipe& recipe,
                                            const runs::RankContext& context,
                                            const cost::Rates& rates, c10::Device device) {
  const runs::Launch& launch = context.launch;
  if (launch.mode == "planned") return make_planned(recipe, context, rates, device);
  if (launch.mode != "eager")
    return fail("unknown mode \"{}\"; valid: planned | eager", launch.mode);
  if (!launch.graph_file.empty())
    return fail("{}: the eager mode runs the model and reads no graph; valid: --mode planned",
                launch.graph_file);
  if (recipe.parallelism.pp > 1)
    return fail("parallelism.pp: a pipeline has no eager mode; valid: 1, or --mode planned");
  step::StepSettings settings = step::settings_of(recipe);
  if (!launch.eval_to.empty()) settings.work = step::Work::evaluate;
  return std::make_unique<EagerRunner>(recipe, settings, device);
}

}  // namespace heddle::train
