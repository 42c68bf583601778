// One step on real tensors: eager, or the planned graph. Both give the same numbers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/cost/rates.h"
#include "engine/recipe/recipe.h"
#include "engine/runs/launch.h"
#include "engine/runtime/executor.h"

namespace heddle::train {

/// The main figures of a run's prediction (plan::Document has all of it).
struct Expected {
  double step_seconds = 0, exposed_seconds = 0, bubble_seconds = 0;
  int64_t peak_bytes = 0;  // of the rank that needs most
  std::string plan_hash;
};

/// A runner's figures before its first step.
struct RunnerFacts {
  double capture_seconds = 0;
  double plan_seconds = 0;
  // In the planned step; 0 when eager.
  int64_t nodes = 0;             // captured
  int64_t collectives = 0;       // of one step
  int64_t collective_bytes = 0;  // of their whole tensors
  int64_t arena_bytes = 0;
  int64_t state_bytes = 0;
  /// Resident: the process, its states, the arena; on a GPU the latter two and the libraries'
  /// workspaces. This rank's, and once the ranks have met on their plan the one of the rank that
  /// needs most.
  int64_t predicted_peak_bytes = 0;
  cost::Rates rates;                 // that it was planned by
  std::optional<Expected> expected;  // before the first step, on rank 0
  std::string plan;                  // its text, which all ranks of a stage must share
  std::string plan_hash;             // of all stages together, once the ranks have met over it
  std::string choice;                // the plan's note: what was chosen, and what is expected of it
  std::vector<std::string> warnings;  // of how it was made ready
};

class Runner {
 public:
  virtual ~Runner() = default;
  /// As Executor::run; inputs are on the CPU.
  virtual runtime::NamedTensors run(const std::vector<runtime::NamedTensors>& micro_batches,
                                    const runtime::NamedTensors& step_inputs,
                                    runtime::Timeline* timeline) = 0;
  /// As Executor's.
  virtual void launch(const std::vector<runtime::NamedTensors>& micro_batches,
                      const runtime::NamedTensors& step_inputs, runtime::Timeline* timeline) = 0;
  virtual runtime::NamedTensors finish() = 0;
  virtual int64_t ahead() const { return 0; }
  /// Forward alone, as Step::validate; `recipe` had validation when the runner was made.
  virtual runtime::NamedTensors validate(const runtime::NamedTensors& batch,
                                         const runtime::NamedTensors& step_inputs) = 0;
  virtual int64_t model_forward_calls() const = 0;
  /// As Executor::first_non_finite; an eager step cannot tell.
  virtual std::string first_non_finite(const std::vector<runtime::NamedTensors>&,
                                       const runtime::NamedTensors&) {
    return {};
  }
  /// As Executor::set_before_update.
  virtual void set_before_update(std::function<void()> before) = 0;
  /// The last step's record, to compare with the plan; nullptr when eager.
  virtual const runtime::Executor* executor() const { return nullptr; }

  /// The most memory held so far: resident, or on a GPU allocated there; with what its allocator
  /// has reserved besides.
  int64_t peak_bytes() const;
  int64_t peak_reserved_bytes() const;
  /// As Executor::take_warnings.
  virtual std::vector<std::string> take_warnings() { return {}; }

  /// All states by name; filled with zeros at first.
  runtime::NamedTensors states;
  RunnerFacts facts;
};

/// Makes the runner that the rank's launch asks for: eager; planned from a capture, or from its
/// graph file, by these rates. States lie on `device`.
Result<std::unique_ptr<Runner>> make_runner(const recipe::Recipe& recipe,
                                            const runs::RankContext& context,
                                            const cost::Rates& rates, c10::Device device);

}  // namespace heddle::train
