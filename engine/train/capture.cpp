#include "engine/train/capture.h"

#include <chrono>

#include "engine/graph/error_text.h"
#include "engine/graph/recorder.h"
#include "engine/graph/trace_kernels.h"
#include "engine/model/llama.h"
#include "engine/runtime/process_groups.h"
#include "engine/train/step.h"

namespace heddle::train {

Result<Captured> capture_step(const recipe::Recipe& recipe, bool evaluate) try {
  const auto begin = std::chrono::steady_clock::now();
  graph::register_trace_kernels();
  graph::Recorder recorder;
  auto state = [&](const std::string& name, const std::vector<int64_t>& sizes) {
    return recorder.state(name, sizes, at::kFloat);
  };

  StepSettings settings = settings_of(recipe);
  settings.evaluate = evaluate;
  const std::vector<int64_t> batch = {recipe.training.local_batch, recipe.data.seq_len};
  const at::Tensor tokens = recorder.input("tokens", batch, at::kLong);
  const at::Tensor labels = recorder.input("labels", batch, at::kLong);
  const at::Tensor positions = recorder.input("positions", batch, at::kLong);
  const at::Tensor token_count = recorder.input("token_count", {}, at::kFloat);
  const at::Tensor lr = recorder.input("lr", {}, at::kDouble);
  const at::Tensor step_number = recorder.input("step", {}, at::kLong);

  model::Llama model(recipe.model, settings.sharding,
                     state("rope_table", {recipe.data.seq_len, recipe.model.head_dim() / 2, 2}),
                     state);
  Step step(model, settings, state);
  step.micro_batch(tokens, labels, positions, token_count);
  for (const auto& [name, tensor] : step.update(lr, step_number)) recorder.output(name, tensor);

  Captured captured;
  captured.graph = recorder.finish();
  captured.nodes = static_cast<int64_t>(captured.graph.nodes.size());
  captured.graph.micro_batches = settings.micro_batches;
  for (const auto& [group, ranks] : {std::pair{runtime::kShardGroup, settings.sharding.ranks},
                                     {runtime::kReplicateGroup, settings.replicas},
                                     {runtime::kDataGroup, settings.data_ranks()}})
    if (ranks > 1) captured.graph.groups[group] = ranks;
  captured.model_forward_calls = model.forward_calls();
  captured.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return captured;
} catch (const std::exception& error) {
  return fail("the step cannot be captured: {}", graph::error_text(error));
}

}  // namespace heddle::train
