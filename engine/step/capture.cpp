#include "engine/step/capture.h"

#include "base/clock.h"
#include "engine/graph/error_text.h"
#include "engine/graph/recorder.h"
#include "engine/graph/trace_kernels.h"
#include "engine/holdings/states.h"
#include "engine/model/llama.h"
#include "engine/runtime/agreement.h"
#include "engine/step/feed.h"
#include "engine/step/graph_file.h"
#include "engine/step/states.h"
#include "engine/step/step.h"

namespace heddle::step {

Result<Captured> capture_step(const recipe::Recipe& recipe, Work work) try {
  const auto begin = Clock::now();
  graph::register_trace_kernels();
  graph::Recorder recorder;
  const auto state = [&](const holdings::State& kept) {
    return recorder.state(kept.name, kept.shape, dtype_of(kept.element));
  };

  StepSettings settings = settings_of(recipe);
  settings.work = work;
  runtime::NamedTensors batch;
  for (const auto& [name, sizes] : batch_inputs(recipe))
    batch[name] = recorder.input(name, sizes, at::kLong);
  const at::Tensor token_count = recorder.input("token_count", {}, at::kFloat);

  model::Llama model(recipe.model, settings.parallelism, settings.float8, settings.parameters,
                     state(holdings::rope_table(recipe)), state);
  Step step(model, settings, state);
  const auto put_out = [&](const runtime::NamedTensors& outputs) {
    for (const auto& [name, tensor] : outputs) recorder.output(name, tensor);
  };
  if (work == Work::validate) {
    put_out(step.validate(batch_of(batch), token_count));
  } else {
    const at::Tensor lr = recorder.input("lr", {}, at::kDouble);
    const at::Tensor step_number = recorder.input("step", {}, at::kLong);
    const at::Tensor asked = recorder.input("asked", {runtime::kAsked}, at::kFloat);
    step.micro_batch(batch_of(batch), token_count);
    put_out(step.update(lr, step_number, asked));
  }

  Captured captured;
  captured.graph = recorder.finish();
  captured.nodes = static_cast<int64_t>(captured.graph.nodes.size());
  captured.graph.micro_batches = recipe.micro_batches();
  for (const recipe::Group& group : settings.layout.groups())
    if (!group.is_pair() || (group.name == recipe::kEndsGroup && settings.layout.ends_apart()))
      captured.graph.groups[group.name] = group.ranks;
  captured.graph.notes = made_from(recipe);
  captured.graph.notes[kAfter] = "capture";
  captured.model_forward_calls = model.forward_calls();
  captured.seconds = seconds_since(begin);
  return captured;
} catch (const std::exception& error) {
  return fail("the step cannot be captured: {}", graph::error_text(error));
}

}  // namespace heddle::step
