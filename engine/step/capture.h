// The training step of a recipe as a graph, without a weight in memory.
#pragma once

#include <functional>

#include "base/result.h"
#include "engine/graph/ir.h"
#include "engine/recipe/recipe.h"
#include "engine/step/step.h"

namespace heddle::step {

struct Captured {
  graph::Graph graph;
  double seconds = 0;               // wall time of the capture
  int64_t model_forward_calls = 0;  // how often the model's code ran
  int64_t nodes = 0;                // as captured: the graph itself may be moved from
};

/// Runs the step once on the trace device. `recipe` is resolved and has a vocabulary size. All
/// ranks get the same graph. Errors are LibTorch's, with the operator they come from.
Result<Captured> capture_step(const recipe::Recipe& recipe, Work work = Work::train);

/// A function that captures steps: `capture_step`, or one that remembers its captures.
using CaptureStep = std::function<Result<Captured>(const recipe::Recipe& recipe, Work work)>;

}  // namespace heddle::step
