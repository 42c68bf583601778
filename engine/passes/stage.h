// Pass: what a pipeline rank does of a step.
#pragma once

#include <functional>
#include <string_view>

#include "engine/graph/ir.h"
#include "engine/passes/schedule.h"

namespace heddle::passes {

struct StageOptions {
  Pipeline pipeline;
  int64_t rank = 0;  // along the pipeline
  /// The stage of a module; −1 for what belongs to none.
  std::function<int64_t(std::string_view module)> stage_of;
  /// In zero-bubble: the process group whose gathers weight gradients make again, so that what is
  /// gathered does not stay until then; empty: it stays.
  std::string gathers_again;
};

/// Keeps the nodes of the rank's stages, and the optimizer's nodes of their parameters and of
/// the step as a whole. A value that another stage reads is sent as soon as it is made, and
/// received there before it is read first. Marks each node's stage, and what leads to weight
/// gradients alone and may be put off: in blocks, from what forward has kept. Outside of them rows
/// may be as long as the vocabulary, and what backward makes again would be kept beyond it.
void keep_stages(graph::Graph& graph, const StageOptions& options);

}  // namespace heddle::passes
