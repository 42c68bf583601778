// One step on real tensors: eager, or the planned graph. Both give the same numbers.
#pragma once

#include <memory>

#include "base/result.h"
#include "engine/launch/launch.h"
#include "engine/recipe/recipe.h"
#include "engine/runtime/executor.h"

namespace heddle::train {

/// What is known of a runner before its first step.
struct RunnerFacts {
  double capture_seconds = 0;
  double plan_seconds = 0;
  int64_t nodes = 0;        // of the graph; 0 when eager
  int64_t collectives = 0;  // of one step; 0 when eager
};

class Runner {
 public:
  virtual ~Runner() = default;
  /// As Executor::run.
  virtual runtime::NamedTensors run(const std::vector<runtime::NamedTensors>& micro_batches,
                                    const runtime::NamedTensors& step_inputs,
                                    runtime::Timeline* timeline) = 0;
  virtual int64_t model_forward_calls() const = 0;

  /// All states by name; filled with zeros at first.
  runtime::NamedTensors states;
  RunnerFacts facts;
};

/// Makes the runner that the launch asks for: eager; planned from a capture, or from its graph
/// file. States lie on `device`.
Result<std::unique_ptr<Runner>> make_runner(const recipe::Recipe& recipe,
                                            const launch::Launch& launch, c10::Device device);

}  // namespace heddle::train
