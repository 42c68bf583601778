// `heddle-engine graph`: a captured step as text, or its size, memory and times as JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/say.h"
#include "engine/commands/refuse.h"
#include "engine/cost/layer_work.h"
#include "engine/graph/text.h"
#include "engine/predict/planner.h"
#include "engine/predict/rates_here.h"
#include "engine/step/capture.h"
#include "engine/torch_commands/torch_commands.h"

namespace heddle::torch_commands {

int graph(const recipe::Recipe& recipe, const std::string& file,
          const commands::GraphOptions& what) {
  auto captured = step::capture_step(recipe);
  if (!captured) {
    say(stderr, "{}\n", captured.error().message);
    return 1;
  }
  captured->graph.notes["recipe"] = file;
  const auto captured_nodes = captured->graph.nodes.size();
  passes::Plan plan{std::move(captured->graph)};
  const auto begin = Clock::now();
  if (what.stats || what.after != "capture") {
    const cost::Rates rates = predict::rates_here(recipe);
    auto planned = predict::plan_validation(recipe, what.rank, rates)
                       .and_then([&](const passes::Plan& validation) {
                         return predict::plan_step(recipe, what.rank, std::move(plan.graph), rates,
                                                   what.stats ? "" : what.after,
                                                   validation.memory.arena_bytes);
                       });
    if (!planned) return commands::refuse(planned.error().message);
    plan = std::move(*planned);
  }
  if (what.stats) {
    const double planning = seconds_since(begin);
    nlohmann::ordered_json passes;
    for (const auto& [pass, seconds] : plan.seconds) passes[pass] = seconds;
    nlohmann::ordered_json json = {{"nodes", captured_nodes},
                                   {"capture_seconds", captured->seconds},
                                   {"planned_nodes", plan.graph.nodes.size()},
                                   {"collectives", graph::collectives_per_step(plan.graph)},
                                   {"plan_seconds", planning},
                                   {"pass_seconds", std::move(passes)},
                                   {"arena_bytes", plan.memory.arena_bytes},
                                   {"live_bytes", plan.memory.live_bytes},
                                   {"plan", plan.graph.notes["plan"]},
                                   {"model_forward_calls", captured->model_forward_calls}};
    if (const auto layer = cost::layer_work(plan.graph))
      json["layer"] = {{"kernels", layer->kernels},
                       {"bytes", layer->bytes},
                       {"least_bytes", layer->least_bytes}};
    say("{}\n", json_text(json));
    return 0;
  }
  say("{}", passes::to_text(plan));
  return 0;
}

}  // namespace heddle::torch_commands
