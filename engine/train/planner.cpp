#include "engine/train/planner.h"

#include "engine/graph/error_text.h"
#include "engine/passes/budget.h"
#include "engine/recipe/modules.h"
#include "engine/runtime/scratch.h"

namespace heddle::train {
namespace {

passes::Recompute mode_of(recipe::RecomputeMode mode) {
  switch (mode) {
    case recipe::RecomputeMode::none:
      return passes::Recompute::none;
    case recipe::RecomputeMode::full:
      return passes::Recompute::full;
    case recipe::RecomputeMode::selective:
      return passes::Recompute::selective;
    case recipe::RecomputeMode::budget:
      return passes::Recompute::budget;
  }
  return passes::Recompute::none;
}

passes::BucketPlan manual(const recipe::Recipe& recipe) {
  passes::BucketPlan plan;
  for (const std::vector<std::string>& names : recipe.wrapping.buckets) {
    passes::Bucket bucket{passes::bucket_name(names), {}};
    for (const std::string& name : names)
      for (std::string& module : recipe::expand_range(name))
        bucket.modules.push_back(std::move(module));
    plan.push_back(std::move(bucket));
  }
  return plan;
}

passes::BucketPlan buckets(const recipe::Recipe& recipe, const graph::Graph& captured) {
  switch (recipe.wrapping.mode) {
    case recipe::WrappingMode::none:
      return passes::one_each(captured);
    case recipe::WrappingMode::manual:
      return manual(recipe);
    case recipe::WrappingMode::layers:
    case recipe::WrappingMode::automatic:
      break;
  }
  return passes::by_block(captured);
}

}  // namespace

passes::PlanOptions plan_options(const recipe::Recipe& recipe, const graph::Graph& captured) {
  passes::PlanOptions options;
  options.buckets = buckets(recipe, captured);
  options.scratch_bytes = runtime::scratch_bytes;
  options.recompute.reshard = recipe.wrapping.reshard_after_forward != 0;
  std::vector<std::pair<std::string, passes::Recompute>> exceptions;
  for (const recipe::Override& each : recipe.overrides)
    for (const std::string& name : each.modules)
      for (std::string& module : recipe::expand_range(name))
        if (each.recompute) exceptions.emplace_back(std::move(module), mode_of(*each.recompute));
  options.recompute.mode = [exceptions,
                            usual = mode_of(recipe.recompute.mode)](std::string_view module) {
    for (const auto& [name, mode] : exceptions)
      if (module == name) return mode;
    return usual;
  };
  return options;
}

Result<passes::Plan> plan_step(const recipe::Recipe& recipe, graph::Graph captured,
                               const std::string& after) try {
  passes::PlanOptions options = plan_options(recipe, captured);
  if (recipe.recompute.mode == recipe::RecomputeMode::budget)
    options.recompute.budget = passes::share_for_budget(captured, options, recipe.recompute.budget);
  return passes::plan(std::move(captured), options, after);
} catch (const std::exception& error) {
  return fail("the step cannot be planned: {}", graph::error_text(error));
}

}  // namespace heddle::train
