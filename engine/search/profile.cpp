#include "engine/search/profile.h"

#include <algorithm>

#include "engine/cost/memory_use.h"
#include "engine/cost/simulate.h"
#include "engine/holdings/states.h"
#include "engine/predict/planner.h"
#include "engine/recipe/mesh.h"
#include "engine/recipe/modules.h"
#include "engine/recipe/parse.h"

namespace heddle::search {
namespace {

constexpr int64_t kLayers = 3;

/// One data-parallel rank's, a pipeline of one stage.
recipe::Recipe small_recipe(const recipe::Recipe& recipe, const Choice& choice) {
  Choice one = choice;
  static_cast<recipe::Degrees&>(one) = recipe::keep_degrees(one, recipe::kMicroBatch);
  one.micro_batches = 1;
  one.overrides.clear();
  recipe::Recipe small = with(recipe, one);
  small.model.n_layers = std::min(kLayers, recipe.model.n_layers);
  small.hardware.ranks = recipe::Mesh(one).size();
  small.training.global_batch = one.sequences;
  small.parallelism.stage_layers.clear();
  small.wrapping.mode = recipe::WrappingMode::layers;
  small.wrapping.buckets.clear();
  small.wrapping.memory_limit = 0;
  return small;
}

/// Parameters are on the rank already: how long they travel depends on the whole mesh.
cost::RankProgram program_in_place(const graph::Graph& planned, const cost::CostModel& cost) {
  return cost::program_of(planned, [&](const graph::Node& node) {
    if (!graph::is_collective(node)) return cost::Duration{cost.seconds(planned, node)};
    return graph::is_exchange(node) ? cost.transfer(planned, node) : cost::Duration{};
  });
}

class Reader {
 public:
  Reader(const recipe::Recipe& recipe, const passes::Plan& plan, const cost::CostModel& cost)
      : graph_(plan.graph),
        step_(cost::simulate(program_in_place(plan.graph, cost))),
        states_(holdings::states_of(recipe, recipe::Layout(recipe), 0)),
        memory_(cost::memory_use(plan.graph, plan.memory, states_, 0)),
        layers_(recipe.model.n_layers),
        middle_(layers_ / 2) {}

  Profile read() {
    times();
    bytes();
    return profile_;
  }

 private:
  void times() {
    double before = 0, update = 0;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const graph::Node& node = graph_.nodes[i];
      if (step_.compute[i].length() <= 0) continue;
      const double seconds = step_.compute[i].end - before;
      before = step_.compute[i].end;
      if (node.phase == graph::Phase::optimizer) {
        update += seconds;
        continue;
      }
      const auto layer = recipe::layer_of(node.module.text());
      if (layer && *layer != middle_) continue;
      Passes& passes = layer ? profile_.layer : profile_.ends;
      (node.phase == graph::Phase::forward ? passes.forward : passes.backward) += seconds;
    }
    int64_t elements = 0;
    for (const holdings::State& state : states_)
      if (state.role == holdings::Role::parameter) elements += state.elements();
    if (elements > 0) profile_.update_seconds = update / static_cast<double>(elements);
  }

  int64_t held(size_t node) const {
    return memory_.at_node[node][plan::Category::activations] +
           memory_.at_node[node][plan::Category::workspace];
  }

  void bytes() {
    std::vector<int64_t> left(static_cast<size_t>(layers_), 0);  // by a layer's forward, and before
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const graph::Node& node = graph_.nodes[i];
      if (node.phase != graph::Phase::forward) continue;
      if (const auto layer = recipe::layer_of(node.module.text()))
        left[static_cast<size_t>(*layer)] = memory_.at_node[i][plan::Category::activations];
    }
    if (middle_ > 0)
      profile_.kept_bytes = std::max<int64_t>(
          left[static_cast<size_t>(middle_)] - left[static_cast<size_t>(middle_ - 1)], 0);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const graph::Node& node = graph_.nodes[i];
      profile_.last_bytes = std::max(profile_.last_bytes, held(i) - layers_ * profile_.kept_bytes);
      const auto layer = recipe::layer_of(node.module.text());
      if (layer != middle_ || node.phase != graph::Phase::backward) continue;
      profile_.working_bytes =
          std::max(profile_.working_bytes, held(i) - (middle_ + 1) * profile_.kept_bytes);
    }
  }

  const graph::Graph& graph_;
  const cost::Simulated step_;
  const std::vector<holdings::State> states_;
  const cost::MemoryUse memory_;
  const int64_t layers_, middle_;
  Profile profile_;
};

}  // namespace

Result<const Profile*> Profiles::of(const Choice& choice) {
  const Inside inside{recipe::keep_degrees(choice, recipe::kMicroBatch), choice.cp_mode,
                      choice.sequences};
  const std::pair key{inside, choice.recompute};
  auto known = known_.find(key);
  if (known == known_.end()) {
    if (!last_ || last_->first != inside) last_.emplace(inside, capture(choice));
    const Result<Small>& small = last_->second;
    known =
        known_
            .emplace(key, small ? measure(*small, choice.recompute) : Result<Profile>(fail(small)))
            .first;
  }
  if (!known->second) return fail(known->second);
  return &*known->second;
}

Result<Profiles::Small> Profiles::capture(const Choice& choice) const {
  recipe::Parsed asked;
  asked.recipe = small_recipe(question_.recipe, choice);
  Small small;
  small.recipe = recipe::resolve(asked).recipe;
  auto machine = predict::machine_of(small.recipe, question_.hardware, "heddle");
  if (!machine) return fail(machine);
  small.machine = std::move(*machine);
  small.recipe.hardware.device = small.machine.gpu ? "cuda" : "cpu";
  if (small.machine.rates.device && !small.machine.eight_bits)
    small.recipe.precision.float8 = recipe::Float8::none;
  auto captured = step::capture_step(small.recipe);
  if (!captured) return fail(captured);
  small.captured = std::move(*captured);
  return small;
}

Result<Profile> Profiles::measure(const Small& small, recipe::RecomputeMode mode) const {
  recipe::Recipe recipe = small.recipe;
  recipe.recompute.mode = mode;
  const auto plan = predict::plan_step(recipe, 0, small.captured.graph, small.machine.rates);
  if (!plan) return fail(plan);
  const cost::CostModel cost(small.machine.rates);
  return Reader(recipe, *plan, cost).read();
}

}  // namespace heddle::search
