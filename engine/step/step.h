// The training step, written once: forward, loss, backward, accumulation, clipping, update. The
// eager mode runs it on real tensors; capture runs it on the trace device.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "engine/holdings/parameter.h"
#include "engine/model/llama.h"
#include "engine/recipe/layout.h"
#include "engine/runtime/executor.h"

namespace heddle::step {

/// The use of a batch: training; logits and gradients given out, nothing updated; forward alone,
/// for its loss and logits.
enum class Work : uint8_t { train, evaluate, validate };

/// A step's settings beyond the model.
struct StepSettings {
  recipe::Recipe recipe;
  recipe::Layout layout;
  std::vector<holdings::Parameter> parameters;  // the table
  recipe::Float8Layers float8;
  model::Parallelism parallelism;
  c10::ScalarType reduce = c10::kFloat;  // what gradients are reduced in
  Work work = Work::train;
};

/// The settings of a resolved recipe.
StepSettings settings_of(const recipe::Recipe& recipe);

class Step {
 public:
  /// Makes its states (the optimizer's, gradient sums, the loss sum) through `make_state`.
  Step(model::Llama& model, const StepSettings& settings, const model::MakeState& make_state);

  /// Forward and backward of one micro-batch. The loss is the sum over tokens divided by
  /// token_count (0-dim fp32: valid tokens of the whole step on all ranks), so that gradients add
  /// up over micro-batches and ranks.
  void micro_batch(const model::Batch& batch, const at::Tensor& token_count);

  /// Forward of one batch alone. Outputs: loss, as of `update`, and logits.
  runtime::NamedTensors validate(const model::Batch& batch, const at::Tensor& token_count);

  /// Clips and updates; lr 0-dim fp64, step_number 0-dim int64 (1-based), asked fp32 [kAsked] of
  /// this rank. Outputs: loss, loss_max (the largest of the ranks' mean losses), grad_norm, asked
  /// (of any rank); when evaluating logits and grad.<parameter> (this rank's shard) too.
  runtime::NamedTensors update(const at::Tensor& lr, const at::Tensor& step_number,
                               const at::Tensor& asked);

 private:
  struct State {
    model::Parameter* parameter;
    const holdings::Parameter* row;  // in the table
    std::vector<at::Tensor> kept;    // by the optimizer, in its order
    at::Tensor sum;   // over micro-batches, where there are several: whole, or this rank's shard
    at::Tensor grad;  // this rank's shard of the step's gradient
  };
  at::Tensor forward(const model::Batch& batch, const at::Tensor& token_count);
  at::Tensor scattered(const State& state, at::Tensor grad) const;
  at::Tensor summed(const State& state, at::Tensor shard) const;
  at::Tensor norm() const;
  at::Tensor all_reduced(const at::Tensor& value, const char* reduction, recipe::Dims dims) const;

  model::Llama& model_;
  StepSettings settings_;
  bool sums_;         // gradients over several micro-batches
  bool sums_shards_;  // each micro-batch reduces its gradients
  int64_t loss_chunks_;
  std::vector<State> states_;
  at::Tensor loss_sum_;  // 0-dim fp32: this rank's share of the step's loss
  at::Tensor logits_;    // of the newest micro-batch, where they are an output
};

}  // namespace heddle::step
