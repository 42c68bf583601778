// From a recipe's text to its predicted plan: what `plan` and `plan --serve` do for each question.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "engine/inputs/plan_recipes.h"
#include "engine/plan/answers.h"
#include "engine/plan/question.h"
#include "engine/predict/budget_memory.h"
#include "engine/predict/machine.h"
#include "engine/recipe/parse.h"
#include "engine/step/capture_memory.h"

namespace heddle::predict {

/// Remembers what it has captured and read: a recipe that differs in how it is planned alone is
/// not captured again. One thread at a time.
class Planning {
 public:
  /// `awaits_speed`: before a plan of this machine, looks at how fast it is now, half a second.
  explicit Planning(bool awaits_speed = false, inputs::PlanRecipes recipes = {})
      : awaits_speed_(awaits_speed), recipes_(std::move(recipes)) {}

  /// Reports all faults of `train` in the same words, but data may still be missing,
  /// and files that are named need not be there.
  /// `cancelled` is asked now and then; the error is kCancelled then.
  plan::PlanAnswer answer(
      const plan::PlanQuestion& question,
      const std::function<bool()>& cancelled = [] { return false; });

  /// The recipe that is asked for, resolved, with its vocabulary's size; or its faults.
  recipe::Parsed read(const plan::PlanQuestion& question) { return recipes_.read(question); }

  /// Its remembered plans, for searches among them.
  step::CaptureMemory& captured() { return captured_; }
  BudgetMemory& budgets() { return budgets_; }

 private:
  plan::PlanAnswer planned(const plan::PlanQuestion& question, const recipe::Parsed& parsed,
                           const std::function<bool()>& cancelled);

  /// The recipe that is being edited, and variants of it; layouts that are searched.
  static constexpr size_t kMaxCaptured = 24;

  const bool awaits_speed_;
  step::CaptureMemory captured_{kMaxCaptured};
  BudgetMemory budgets_;
  inputs::PlanRecipes recipes_;
};

/// The fault of ranks that are more than a node of the machine has, and do not fill nodes alike.
std::optional<recipe::Fault> partly_filled_node(const recipe::Parsed& parsed,
                                                const Machine& machine);

}  // namespace heddle::predict
