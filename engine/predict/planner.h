// From a recipe to the plan of its step.
#pragma once

#include "base/result.h"
#include "engine/cost/rates.h"
#include "engine/passes/pipeline.h"
#include "engine/predict/budget_memory.h"
#include "engine/recipe/layout.h"
#include "engine/recipe/recipe.h"
#include "engine/step/capture.h"

namespace heddle::predict {

/// The recipe's settings for the passes, for a rank. `layout`: the recipe's; `captured`: its step.
passes::PlanOptions plan_options(const recipe::Recipe& recipe, const recipe::Layout& layout,
                                 int64_t rank, const graph::Graph& captured);

/// The recipe's pipeline, as passes know it.
passes::Pipeline pipeline_of(const recipe::Recipe& recipe, int64_t stages, int64_t micro_batches);

/// A step from capture to plan.
struct PlannedStep {
  step::Captured captured;  // its graph has become the plan's
  passes::Plan plan;
};

/// Captures the recipe's step and plans it. If the recipe leaves open how often gradients are
/// reduced, the step reduces them once, or with each micro-batch where only that meets the memory
/// limit. `validation_bytes`, `budgets`: see `plan_step`.
Result<PlannedStep> capture_and_plan(const recipe::Recipe& recipe, int64_t rank,
                                     const cost::Rates& rates, step::Work work = step::Work::train,
                                     int64_t validation_bytes = 0,
                                     const step::CaptureStep& capture = step::capture_step,
                                     BudgetMemory* budgets = nullptr);

/// Bytes of the copy that checkpoints are written from, on the rank of the stage that writes most:
/// all ranks of a stage must plan alike. 0 where the copy takes none of the planned memory.
int64_t checkpoint_bytes(const recipe::Recipe& recipe, const recipe::Layout& layout, int64_t rank,
                         const graph::Graph& captured);

/// Bytes that validation needs beyond the step's arena, in which it runs.
int64_t beyond_arena(const passes::MemoryPlan& memory, int64_t validation_bytes);

/// The plan of a validation batch's forward pass; empty where the recipe does not validate.
Result<passes::Plan> plan_validation(const recipe::Recipe& recipe, int64_t rank,
                                     const cost::Rates& rates);

/// The planned step of a rank; without a pipeline it is the same on all ranks. Automatic wrapping
/// chooses the plan that these rates predict to be fastest; the graph's note "plan" names it with
/// its predicted times. All ranks must pass the same rates. The memory limit is the recipe's, or
/// else the device's memory in the rates. It covers the step, the copy that checkpoints are written
/// from, and what a validation of `validation_bytes` needs beyond the step's arena. `budgets`, of
/// training steps captured from recipes alone, saves plans. Errors: the recipe's demands cannot be
/// met, such as its memory limit.
Result<passes::Plan> plan_step(const recipe::Recipe& recipe, int64_t rank, graph::Graph captured,
                               const cost::Rates& rates, const std::string& after = "",
                               int64_t validation_bytes = 0, BudgetMemory* budgets = nullptr);

}  // namespace heddle::predict
