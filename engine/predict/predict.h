// A recipe's plan as a document, before anything runs.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "engine/plan/document.h"
#include "engine/predict/budget_memory.h"
#include "engine/predict/machine.h"
#include "engine/recipe/recipe.h"
#include "engine/step/capture.h"

namespace heddle::predict {

struct PredictOptions {
  std::string hardware;             // empty: the recipe's
  std::string executor = "heddle";  // heddle | compiled | eager
  bool timeline = false;            // with spans and memory, moment by moment
  std::function<bool()> cancelled = [] { return false; };  // asked between stages
  step::CaptureStep capture = step::capture_step;          // or one that remembers
  BudgetMemory* budgets = nullptr;                         // what was planned for budgets before
  /// Largest number of captured nodes times micro-batches: a step with more is put together from a
  /// few of its micro-batches (stage_parts.h), and its plan has no hash.
  int64_t most_nodes = 60'000;
};

/// The error of a prediction that was given up.
inline constexpr const char* kCancelled = "cancelled";

/// Captures and plans the step of every pipeline rank, and simulates them together. `recipe` is
/// resolved and has a vocabulary size. Errors: unknown hardware, a memory limit that cannot be met,
/// `kCancelled`.
Result<plan::Document> predict(const recipe::Recipe& recipe, const PredictOptions& options);
/// The same for a machine that is known already; `options.hardware` is not looked at.
Result<plan::Document> predict(const recipe::Recipe& recipe, const Machine& machine,
                               const PredictOptions& options);

}  // namespace heddle::predict
