#include "engine/train/runner.h"

#include <ATen/ops/zeros.h>

#include <chrono>
#include <fstream>
#include <sstream>

#include "engine/graph/text.h"
#include "engine/train/capture.h"
#include "engine/train/planner.h"
#include "engine/train/step.h"

namespace heddle::train {
namespace {

using runtime::NamedTensors;

class EagerRunner final : public Runner {
 public:
  EagerRunner(const recipe::Recipe& recipe, const StepSettings& settings, c10::Device device) {
    auto make = [this, device](const std::string& name, const std::vector<int64_t>& sizes) {
      return states[name] = at::zeros(sizes, at::TensorOptions(at::kFloat).device(device));
    };
    model_ = std::make_unique<model::Llama>(
        recipe.model, settings.sharding,
        make("rope_table", {recipe.data.seq_len, recipe.model.head_dim() / 2, 2}), make);
    step_ = std::make_unique<Step>(*model_, settings, make);
  }

  NamedTensors run(const std::vector<NamedTensors>& micro_batches, const NamedTensors& inputs,
                   runtime::Timeline*) override {
    for (const NamedTensors& batch : micro_batches)
      step_->micro_batch(batch.at("tokens"), batch.at("labels"), batch.at("positions"),
                         inputs.at("token_count"));
    return step_->update(inputs.at("lr"), inputs.at("step"));
  }
  int64_t model_forward_calls() const override { return model_->forward_calls(); }

 private:
  std::unique_ptr<model::Llama> model_;
  std::unique_ptr<Step> step_;
};

class PlannedRunner final : public Runner {
 public:
  PlannedRunner(runtime::Executor executor, int64_t forward_calls)
      : executor_(std::move(executor)), forward_calls_(forward_calls) {}

  NamedTensors run(const std::vector<NamedTensors>& micro_batches, const NamedTensors& inputs,
                   runtime::Timeline* timeline) override {
    return executor_.run(micro_batches, inputs, timeline);
  }
  int64_t model_forward_calls() const override { return forward_calls_; }

 private:
  runtime::Executor executor_;
  int64_t forward_calls_;
};

Result<Captured> read_graph(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return fail("{}: the graph cannot be read", path);
  auto graph = graph::parse_text(text.str(), path);
  if (!graph) return fail(graph);
  return Captured{std::move(*graph), 0.0, 0};
}

Result<std::unique_ptr<Runner>> make_planned(const recipe::Recipe& recipe,
                                             const launch::Launch& launch, c10::Device device) {
  auto captured = launch.graph_file.empty() ? capture_step(recipe, !launch.eval_to.empty())
                                            : read_graph(launch.graph_file);
  if (!captured) return fail(captured);
  const graph::Graph& graph = captured->graph;
  if (graph.micro_batches != recipe.accumulation())
    return fail("{}: the graph is made for {} micro-batches a step, the recipe has {}",
                launch.graph_file, graph.micro_batches, recipe.accumulation());

  const auto begin = std::chrono::steady_clock::now();
  const auto nodes = static_cast<int64_t>(graph.nodes.size());
  auto plan = plan_step(recipe, std::move(captured->graph));
  if (!plan) return fail(plan);
  NamedTensors states;
  for (const graph::Binding& state : plan->graph.states) {
    const graph::Value& value = plan->graph.values[state.value];
    states[state.name] = at::zeros(value.sizes, at::TensorOptions(value.dtype).device(device));
  }
  const int64_t collectives = graph::collectives_per_step(plan->graph);
  auto program =
      runtime::Program::create(std::move(plan->graph), std::move(plan->memory), states, device);
  if (!program) return fail(program);
  auto runner = std::make_unique<PlannedRunner>(runtime::Executor(std::move(*program)),
                                                captured->model_forward_calls);
  runner->states = std::move(states);
  runner->facts = {
      .capture_seconds = captured->seconds,
      .plan_seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
      .nodes = nodes,
      .collectives = collectives};
  return runner;
}

}  // namespace

Result<std::unique_ptr<Runner>> make_runner(const recipe::Recipe& recipe,
                                            const launch::Launch& launch, c10::Device device) {
  if (launch.mode == "planned") return make_planned(recipe, launch, device);
  if (launch.mode != "eager")
    return fail("unknown mode \"{}\"; valid: planned | eager", launch.mode);
  StepSettings settings = settings_of(recipe);
  settings.evaluate = !launch.eval_to.empty();
  return std::make_unique<EagerRunner>(recipe, settings, device);
}

}  // namespace heddle::train
