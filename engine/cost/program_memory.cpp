#include "engine/cost/program_memory.h"

#include <algorithm>

#include "engine/cost/prefixes.h"

namespace heddle::cost {
namespace {

using plan::Category;

constexpr double kFp32Bytes = 4;

double states(const ProgramShape& shape, const hardware::Program& program) {
  const auto shards = static_cast<double>(shape.shards);
  switch (shape.kept) {
    case Kept::all:
      return (shape.copies > 1 ? program.replicated_bytes : program.alone_bytes).value;
    case Kept::all_but_states:
      return program.whole_bytes.value + program.sharded_bytes.value / shards;
    case Kept::shards:
      return program.all_sharded_bytes.value / shards;
  }
  return 0;
}

// Whole parameters and gradients besides the shards.
double gathered(const ProgramShape& shape, double parameters) {
  if (shape.kept != Kept::shards) return 0;
  constexpr double kLayers = 2;  // the one that computes and the one that comes next
  const double layers = kLayers * shape.layer_parameters * (kBf16Bytes + shape.gradient_bytes) +
                        shape.embedding_parameters * (kBf16Bytes + shape.gradient_bytes);
  if (shape.gathers_twice) return layers;
  // Whole from the first to the last micro-batch, and so are the sums of gradients.
  const double sums = shape.micro_batches > 1 ? shape.gradient_bytes : 0;
  return std::max(layers, parameters * (kBf16Bytes + sums));
}

}  // namespace

ProgramMemory program_memory(const ProgramShape& shape, int64_t rank,
                             const hardware::Program& program) {
  const double parameters = shape.parameters(rank);
  const auto tokens = static_cast<double>(shape.tokens), tp = static_cast<double>(shape.tp);
  const auto dim = static_cast<double>(shape.dim), ffn = static_cast<double>(shape.ffn);
  const auto under_way = static_cast<double>(std::min(shape.pp - rank, shape.micro_batches));
  const auto layers = static_cast<double>(shape.layers[static_cast<size_t>(rank)]);

  const double whole_layer =
      tokens * (program.hidden_bytes.value * dim + program.ffn_bytes.value * ffn) / tp;
  double kept = whole_layer, again = 0;  // again: of the layer that is computed again
  if (shape.recompute == recipe::RecomputeMode::full) {
    kept = tokens * dim * kBf16Bytes / tp;
    again = whole_layer;
  } else if (shape.recompute != recipe::RecomputeMode::none) {
    kept = whole_layer * program.kept_share.value;
    again = whole_layer - kept;
  }
  double activations = under_way * layers * kept + again;
  if (rank == 0) activations += under_way * tokens * dim * program.embedding_bytes.value;
  if (rank + 1 == shape.pp)
    activations +=
        tokens * static_cast<double>(shape.vocabulary) / tp * program.logit_memory_bytes.value;
  const double update = parameters * program.update_memory_bytes.value /
                        (shape.kept == Kept::all ? 1.0 : static_cast<double>(shape.shards));
  const double inputs = tokens * dim * program.input_bytes.value;
  const double besides = inputs + program.process_gib.value * kGiB;
  const double whole = gathered(shape, parameters);
  const double held = parameters * states(shape, program);

  ProgramMemory memory;
  const bool sharded = shape.kept == Kept::shards;
  const auto shards = static_cast<double>(shape.shards);
  // Masters are fp32; sharded parameters are the masters.
  const double of_optimizer = parameters * (shape.optimizer_bytes + (sharded ? 0.0 : kFp32Bytes)) /
                              (shape.kept == Kept::all ? 1.0 : shards);
  const double of_parameters = parameters * (sharded ? kFp32Bytes / shards : kBf16Bytes);
  memory.reserved[Category::parameters] = static_cast<int64_t>(of_parameters);
  memory.reserved[Category::optimizer] = static_cast<int64_t>(of_optimizer);
  memory.reserved[Category::gradients] =
      static_cast<int64_t>(std::max(0.0, held - of_parameters - of_optimizer));
  memory.reserved[Category::activations] = static_cast<int64_t>(activations + inputs);
  memory.reserved[Category::communication] = static_cast<int64_t>(whole);
  memory.reserved[Category::workspace] = static_cast<int64_t>(
      std::max(0.0, update - activations - whole) + program.process_gib.value * kGiB);
  memory.live = static_cast<int64_t>(
      held + besides + std::max((activations + whole) * program.live_share.value, update));
  return memory;
}

}  // namespace heddle::cost
