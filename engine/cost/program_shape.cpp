#include "engine/cost/program_shape.h"

#include <algorithm>

#include "engine/holdings/states.h"
#include "engine/recipe/layout.h"
#include "engine/recipe/modules.h"

namespace heddle::cost {
namespace {

// A group of so many ranks, each `stride` after the previous one.
Placement spread(int64_t ranks, int64_t stride, int64_t devices_per_node) {
  const int64_t span = ranks * stride;
  const int64_t nodes = span <= devices_per_node ? 1
                        : stride >= devices_per_node
                            ? ranks
                            : std::min(ranks, (span + devices_per_node - 1) / devices_per_node);
  return {ranks, nodes};
}

}  // namespace

double ProgramShape::parameters(int64_t rank) const {
  double sum = static_cast<double>(layers[static_cast<size_t>(rank)]) * layer_parameters;
  const bool first = rank == 0, last = rank + 1 == pp;
  if (first) sum += embedding_parameters;
  if (last && !(first && tied)) sum += embedding_parameters;
  return sum;
}

ProgramShape program_shape(const recipe::Recipe& recipe, int64_t devices_per_node) {
  const recipe::Parallelism& p = recipe.parallelism;
  const recipe::Layout layout(recipe);
  ProgramShape shape;
  shape.dim = recipe.model.dim;
  shape.ffn = recipe.model.ffn_dim;
  shape.vocabulary = recipe.model.vocab_size;
  shape.tokens = recipe.micro_batch_size() * recipe.data.seq_len / p.cp;
  shape.micro_batches = recipe.micro_batches();
  shape.tp = p.tp;
  shape.cp = p.cp;
  shape.pp = p.pp;
  shape.stages_a_rank = layout.stages() / p.pp;
  shape.layers.assign(static_cast<size_t>(p.pp), 0);
  for (size_t stage = 0; stage < layout.stage_layers().size(); ++stage)
    shape.layers[stage % shape.layers.size()] += layout.stage_layers()[stage];
  const auto tp = static_cast<double>(p.tp);
  shape.layer_parameters = static_cast<double>(recipe::layer_parameter_count(recipe.model)) / tp;
  shape.embedding_parameters = static_cast<double>(recipe.model.vocab_size * recipe.model.dim) / tp;
  shape.tied = recipe.model.tied_embeddings;
  shape.shards = layout.mesh().size(recipe::kSharing);
  shape.copies = layout.mesh().size(recipe::kTokens);
  const bool all = p.dp_shard_states == recipe::ShardStates::all;
  shape.kept = shape.shards == 1 ? Kept::all : all ? Kept::shards : Kept::all_but_states;
  shape.nodes = (recipe.hardware.ranks + devices_per_node - 1) / devices_per_node;
  shape.tensors = spread(p.tp, 1, devices_per_node);
  shape.copied = spread(shape.copies, p.tp, devices_per_node);
  shape.sharded = spread(shape.shards, p.tp, devices_per_node);
  shape.gathers_twice = recipe.wrapping.reshard_after_forward != 0;
  shape.async_exchanges = p.async_tp;
  shape.gradient_bytes = recipe.precision.reduce == recipe::Precision::fp32 ? 4 : 2;
  shape.optimizer_bytes = holdings::optimizer_bytes_a_number(recipe);
  shape.recompute = recipe.recompute.mode;
  return shape;
}

}  // namespace heddle::cost
