// From a recipe to the plan of its step.
#pragma once

#include "base/result.h"
#include "engine/cost/rates.h"
#include "engine/passes/pipeline.h"
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

/// Captures the recipe's step and plans it. Where it leaves open when gradients are reduced, that
/// is once a step, or with each micro-batch if only so the memory limit is met. `validation_bytes`:
/// as of `plan_step`.
Result<PlannedStep> capture_and_plan(const recipe::Recipe& recipe, int64_t rank,
                                     const cost::Rates& rates, step::Work work = step::Work::train,
                                     int64_t validation_bytes = 0,
                                     const step::CaptureStep& capture = step::capture_step);

/// Bytes of the copy that checkpoints are written from, on the rank of the stage that writes most:
/// all of the stage must plan alike. 0 where it takes nothing of the memory that is planned.
int64_t checkpoint_bytes(const recipe::Recipe& recipe, const recipe::Layout& layout, int64_t rank,
                         const graph::Graph& captured);

/// Validation runs in the step's arena: what it needs beyond that.
int64_t beyond_arena(const passes::MemoryPlan& memory, int64_t validation_bytes);

/// The plan of a validation batch's forward pass; empty where the recipe does not validate.
Result<passes::Plan> plan_validation(const recipe::Recipe& recipe, int64_t rank,
                                     const cost::Rates& rates);

/// The planned step of a rank; without a pipeline it is the same on all. Automatic wrapping takes
/// the plan that is expected to be fastest by these rates; the graph's note "plan" says which, and
/// what is expected of it. All ranks must give the same rates. The memory limit, the recipe's or
/// else what the rates say that the device has, is of the step, the copy that checkpoints are
/// written from, and what a validation of `validation_bytes` needs beyond the step's arena. Errors:
/// what the recipe asks for cannot be met, its memory limit for one.
Result<passes::Plan> plan_step(const recipe::Recipe& recipe, int64_t rank, graph::Graph captured,
                               const cost::Rates& rates, const std::string& after = "",
                               int64_t validation_bytes = 0);

}  // namespace heddle::predict
