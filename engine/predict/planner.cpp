#include "engine/predict/planner.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "engine/cost/choose_plan.h"
#include "engine/graph/error_text.h"
#include "engine/holdings/states.h"
#include "engine/inputs/held_out.h"
#include "engine/passes/budget.h"
#include "engine/recipe/buckets.h"
#include "engine/recipe/layout.h"
#include "engine/recipe/mesh.h"
#include "engine/recipe/modules.h"
#include "engine/recipe/units.h"
#include "engine/step/graph_file.h"

namespace heddle::predict {
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

passes::PipelineSchedule schedule_of(recipe::PipelineSchedule schedule) {
  switch (schedule) {
    case recipe::PipelineSchedule::gpipe:
      return passes::PipelineSchedule::gpipe;
    case recipe::PipelineSchedule::one_f_one_b:
      return passes::PipelineSchedule::one_f_one_b;
    case recipe::PipelineSchedule::interleaved:
      return passes::PipelineSchedule::interleaved;
    case recipe::PipelineSchedule::zero_bubble:
      return passes::PipelineSchedule::zero_bubble;
  }
  return passes::PipelineSchedule::one_f_one_b;
}

/// The group whose ranks gather each other's rows again for backward; empty: ranks keep them.
std::string gathers_again(const recipe::Recipe& recipe, const recipe::Layout& layout) {
  const recipe::Parallelism& p = recipe.parallelism;
  const bool gathers = p.tp > 1 && p.sequence_parallel && p.tp_gather_again;
  return gathers ? layout.mesh().name(recipe::kTp) : "";
}

passes::BucketPlan buckets(const recipe::Recipe& recipe, const graph::Graph& captured) {
  using recipe::WrappingMode;
  if (recipe.wrapping.mode == WrappingMode::automatic) return passes::by_block(captured);
  passes::BucketPlan plan;
  const bool gathers = !passes::gathered_modules(captured).empty();
  if (!gathers && recipe.wrapping.mode != WrappingMode::manual) return plan;
  for (recipe::Bucket& bucket : recipe::buckets_of(recipe))
    plan.push_back({passes::bucket_name(bucket.names), std::move(bucket.modules)});
  return plan;
}

passes::StageOptions stages(const recipe::Recipe& recipe, const recipe::Layout& layout,
                            int64_t rank, const graph::Graph& captured) {
  const bool splits = recipe.parallelism.pp_schedule == recipe::PipelineSchedule::zero_bubble;
  return {.pipeline = pipeline_of(recipe, layout.stages(), captured.micro_batches),
          .rank = layout.mesh().index(rank, recipe::kPp),
          .stage_of = [layout](std::string_view module) { return layout.stage_of(module); },
          .gathers_again = splits ? gathers_again(recipe, layout) : ""};
}

passes::ScratchBytes scratch(const recipe::Recipe& recipe, const cost::Rates& rates) {
  return [gpu = recipe.hardware.device == "cuda", remote_ranks = rates.remote_ranks,
          threads = rates.threads,
          in_order_on = recipe.training.deterministic ? rates.multiprocessors : 0](
             const graph::Graph& graph, const graph::Node& node) {
    if (!node.op->scratch) return int64_t{0};
    graph::Workplace place{.gpu = gpu, .threads = threads, .in_order_on = in_order_on};
    if (graph::is_collective(node))
      if (const auto group = remote_ranks.find(graph::group_of(node)); group != remote_ranks.end())
        place.remote_ranks = group->second;
    const int64_t bytes = node.op->scratch(graph, node, place);
    // Operators count their buffers in multiples of a CPU's alignment.
    constexpr int64_t kMaxBuffers = 16;
    return gpu && bytes > 0 ? bytes + kMaxBuffers * passes::kGpuAlignment : bytes;
  };
}

// Rounds up to whole MiB, so that a recipe can name the number as its limit.
int64_t rounded_up(int64_t bytes) {
  constexpr int64_t kMiB = int64_t{1} << 20;
  return (bytes + kMiB - 1) / kMiB * kMiB;
}

std::string find_reductions(const recipe::Recipe& recipe) {
  std::vector<std::string> ways;
  if (recipe.recompute.mode != recipe::RecomputeMode::full)
    ways.push_back("recompute.mode = \"full\"");
  if (recipe.precision.param != recipe::Precision::bf16)
    ways.push_back("precision.param = \"bf16\"");
  if (recipe.training.local_batch > 1)
    ways.push_back(fmt::format("training.local_batch below {}", recipe.training.local_batch));
  ways.push_back(fmt::format("more than {} ranks in dp_shard", recipe.parallelism.dp_shard));
  if (recipe.wrapping.mode != recipe::WrappingMode::automatic &&
      recipe.wrapping.mode != recipe::WrappingMode::none)
    ways.push_back("smaller buckets (wrapping.mode = \"auto\")");
  if (recipe.micro_batches() > 1 && recipe.wrapping.reduce_each == recipe::ReduceEach::step)
    ways.push_back("wrapping.reduce_each = \"micro-batch\"");
  if (recipe.wrapping.reshard_after_forward == 0)
    ways.push_back("wrapping.reshard_after_forward = true");
  return fmt::format("{}", fmt::join(ways, "; "));
}

std::string duration(double seconds) {
  return seconds < 0.1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds);
}

std::string in_words(const cost::Choice& choice, const cost::Rates& rates) {
  std::string text = fmt::format("{}; expected: step {}, {} of it exposed", choice.chosen.name,
                                 duration(choice.expected.step_seconds),
                                 duration(choice.expected.exposed_seconds));
  if (const std::string lack = cost::shortcomings(rates); !lack.empty())
    text += fmt::format(" ({})", lack);
  return text;
}

}  // namespace

passes::Pipeline pipeline_of(const recipe::Recipe& recipe, int64_t stages, int64_t micro_batches) {
  return {schedule_of(recipe.parallelism.pp_schedule), recipe.parallelism.pp, stages, micro_batches,
          recipe.parallelism.zero_bubble_limit};
}

passes::PlanOptions plan_options(const recipe::Recipe& recipe, const recipe::Layout& layout,
                                 int64_t rank, const graph::Graph& captured) {
  passes::PlanOptions options;
  if (recipe.parallelism.pp > 1) options.stages = stages(recipe, layout, rank, captured);
  options.gather_once = recipe.wrapping.reshard_after_forward == 0;
  options.buckets = buckets(recipe, captured);
  options.recompute.reshard = recipe.wrapping.reshard_after_forward != 0;
  options.recompute.gathers_again = gathers_again(recipe, layout);
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

int64_t beyond_arena(const passes::MemoryPlan& memory, int64_t validation_bytes) {
  return std::max<int64_t>(0, validation_bytes - memory.arena_bytes);
}

int64_t checkpoint_bytes(const recipe::Recipe& recipe, const recipe::Layout& layout, int64_t rank,
                         const graph::Graph& captured) {
  // With a GPU the copy is in the host's memory.
  if (!recipe.checkpoint.enabled || recipe.hardware.device == "cuda") return 0;
  std::set<std::string_view> names;
  for (const graph::Binding& state : captured.states) names.insert(state.name);
  int64_t bytes = 0;
  for (const holdings::State& state :
       holdings::states_of(recipe, layout, layout.mesh().group(rank, recipe::kStage).front()))
    if (state.stored && state.stored->writes && names.contains(state.name))
      bytes += state.stored->part.bytes();
  return bytes;
}

Result<PlannedStep> capture_and_plan(const recipe::Recipe& recipe, int64_t rank,
                                     const cost::Rates& rates, step::Work work,
                                     int64_t validation_bytes, const step::CaptureStep& capture,
                                     BudgetMemory* budgets) {
  auto captured = capture(recipe, work);
  if (!captured) return fail(captured);
  auto plan =
      plan_step(recipe, rank, std::move(captured->graph), rates, "", validation_bytes, budgets);
  if (plan) return PlannedStep{std::move(*captured), std::move(*plan)};
  const bool open = recipe.wrapping.reduce_each == recipe::ReduceEach::automatic;
  if (!open || recipe.micro_batches() == 1 || recipe.wrapping.memory_limit == 0) return fail(plan);
  recipe::Recipe smaller = recipe;
  smaller.wrapping.reduce_each = recipe::ReduceEach::micro_batch;
  return capture_and_plan(smaller, rank, rates, work, validation_bytes, capture, budgets);
}

Result<passes::Plan> plan_step(const recipe::Recipe& recipe, int64_t rank, graph::Graph captured,
                               const cost::Rates& rates, const std::string& after,
                               int64_t validation_bytes, BudgetMemory* budgets) try {
  const cost::CostModel model(rates);
  const recipe::Layout layout(recipe);
  passes::PlanOptions options = plan_options(recipe, layout, rank, captured);
  options.done = step::last_pass_of(captured);
  options.scratch_bytes = scratch(recipe, rates);
  if (recipe.hardware.device == "cuda") options.alignment = passes::kGpuAlignment;
  const bool bucketed = passes::position_of(options.done) >= passes::position_of("bucket");
  if (recipe.recompute.mode == recipe::RecomputeMode::budget &&
      passes::position_of(options.done) == 0) {
    BudgetMemory none;
    passes::BytesByShare& known = (budgets ? *budgets : none).of(recipe, rank, captured, rates);
    options.recompute.budget =
        passes::share_for_budget(captured, options, recipe.recompute.budget, known);
  }
  const int64_t staged = checkpoint_bytes(recipe, layout, rank, captured);
  const int64_t asked = recipe.wrapping.memory_limit;
  const int64_t there = asked > 0 ? asked : rates.device_bytes;
  const bool open = recipe.wrapping.mode == recipe::WrappingMode::automatic && !bucketed;
  const auto best = [&](int64_t limit) {
    const auto candidates = open ? cost::open_candidates(captured, options, model, limit)
                                 : std::vector{cost::given(options)};
    cost::Choice choice = cost::choose_best(captured, options, candidates, model, limit);
    if (choice.fits) return choice;
    auto lean = cost::lean_candidates(options.buckets);
    if (open)
      std::ranges::move(cost::lean_candidates(passes::one_each(captured)),
                        std::back_inserter(lean));
    cost::Choice leaner = cost::choose_best(captured, options, lean, model, limit);
    return leaner.fits || leaner.bytes < choice.bytes ? std::move(leaner) : std::move(choice);
  };
  const bool settled = !open && there == 0 && after.empty();
  cost::Choice choice = settled ? cost::as_given(std::move(captured), options, model)
                                : best(there == 0 ? 0 : std::max<int64_t>(there - staged, 1));
  choice.bytes += staged + beyond_arena(choice.plan.memory, validation_bytes);
  // A device's free memory is a measurement, not a limit that somebody set: if nothing fits, the
  // leanest plan is tried, and its allocation reports the error.
  if (asked > 0 && (!choice.fits || choice.bytes > asked))
    return fail(
        "wrapping.memory_limit: {} is not enough: a rank needs at least {} with this recipe; what "
        "would lower it: {}",
        recipe::format_bytes(asked), recipe::format_bytes(rounded_up(choice.bytes)),
        find_reductions(recipe));
  if (!after.empty()) {
    options.buckets = std::move(choice.chosen.buckets);
    options.overlap = choice.chosen.overlap;
    choice.plan = passes::plan(std::move(captured), options, after);
  }
  choice.plan.graph.notes["plan"] = in_words(choice, rates);
  choice.plan.graph.notes[step::kAfter] = after.empty() ? passes::all_passes().back().name : after;
  return std::move(choice.plan);
} catch (const std::exception& error) {
  return fail("the step cannot be planned: {}", graph::error_text(error));
}

Result<passes::Plan> plan_validation(const recipe::Recipe& recipe, int64_t rank,
                                     const cost::Rates& rates) {
  if (recipe.validation.every == 0) return passes::Plan{};
  auto planned =
      capture_and_plan(inputs::validation_recipe(recipe), rank, rates, step::Work::validate);
  if (!planned) return fail(planned);
  return std::move(planned->plan);
}

}  // namespace heddle::predict
