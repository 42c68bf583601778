#include "engine/holdings/needs.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/holdings/parameters.h"
#include "engine/holdings/rank_share.h"
#include "engine/holdings/states.h"
#include "engine/recipe/layout.h"
#include "engine/recipe/loss_chunks.h"
#include "engine/recipe/precision.h"

namespace heddle::holdings {
namespace {

using recipe::Layout;
using recipe::PipelineSchedule;
using recipe::Recipe;
using recipe::RecomputeMode;

constexpr int64_t kFloat = 4;

/// A pipeline stage's part of the parameters, in elements of a tensor-parallel rank.
struct Stage {
  int64_t whole = 0;
  int64_t gathered = 0;  // bytes of that
  int64_t shards = 0;    // elements of the rank with the largest ones
  int64_t states = 0;    // bytes, sums of gradients included
  int64_t stored = 0;    // bytes of the states that checkpoints hold
  int64_t layers = 0;
  bool first = false, last = false;
};

std::vector<Stage> stages_of(const Recipe& recipe, const Layout& layout) {
  const std::vector<int64_t>& layers = layout.stage_layers();
  const int64_t ranks = recipe.parallelism.pp;
  std::vector<Stage> stages(static_cast<size_t>(ranks));
  for (size_t i = 0; i < layers.size(); ++i) stages[i % stages.size()].layers += layers[i];
  stages.front().first = stages[(layers.size() - 1) % stages.size()].last = true;
  for (const Parameter& parameter : parameters_of(recipe, layout)) {
    Stage& stage = stages[static_cast<size_t>(parameter.stage % ranks)];
    if (parameter.copy_of.empty()) {
      stage.whole += elements_of(parameter.local);
      stage.gathered += gathered_bytes(recipe, parameter);
    }
    stage.shards += elements_of(parameter.shard);
    for (const State& state : states_of(recipe, parameter)) {
      stage.states += state.bytes();
      if (state.role != Role::gradient_sum) stage.stored += state.bytes();
    }
  }
  return stages;
}

/// The two largest neighbours among the buckets: while one is used the next is fetched.
struct Buckets {
  int64_t elements = 0, gathered = 0;  // gathered: bytes
};
Buckets two_buckets(const Recipe& recipe, const Layout& layout) {
  const auto sum = [](const std::vector<int64_t>& of_ranks) {
    return std::accumulate(of_ranks.begin(), of_ranks.end(), int64_t{0});
  };
  Buckets most, before;
  for (const recipe::Bucket& bucket : recipe::buckets_of(recipe)) {
    const Buckets here{sum(whole_elements(recipe, layout, bucket.parameters)),
                       sum(whole_bytes(recipe, layout, bucket.parameters))};
    most.elements = std::max(most.elements, before.elements + here.elements);
    most.gathered = std::max(most.gathered, before.gathered + here.gathered);
    before = here;
  }
  return most;
}

/// Bytes that a layer's forward leaves for its backward, of `tokens` tokens.
struct LayerBytes {
  int64_t input;  // all that is left where everything else is computed again
  int64_t all;
};

LayerBytes layer_bytes(const Recipe& recipe, int64_t tokens) {
  const recipe::Model& model = recipe.model;
  const int64_t tp = recipe.parallelism.tp, element = recipe::bytes_of(recipe.precision.param);
  const int64_t rows = tp > 1 && recipe.parallelism.sequence_parallel ? tokens / tp : tokens;
  const int64_t heads = model.n_heads * model.head_size() / tp;
  const int64_t kv_heads = model.n_kv_heads * model.head_size() / tp;
  // The residual before and after attention, and both normed, as products read them; q, k, v and
  // what attention makes of them; gate, up and their product.
  const int64_t read = recipe.parallelism.tp_gather_again ? rows : tokens;
  const int64_t of_rows = (rows + read) * 2 * model.dim;
  // Norms of q and k leave what they were made from; a bias leaves nothing.
  const int64_t normed = model.qk_norm ? heads + kv_heads : 0;
  const int64_t of_tokens = tokens * (2 * heads + 2 * kv_heads + normed + 3 * model.ffn_dim / tp);
  return {rows * model.dim * element, (of_rows + of_tokens) * element};
}

RecomputeMode mode_of(const Recipe& recipe, int64_t layer) {
  const std::string name = recipe::layer_name(layer);
  for (const recipe::Override& each : recipe.overrides)
    for (const std::string& range : each.modules)
      for (const std::string& module : recipe::expand_range(range))
        if (each.recompute && module == name) return *each.recompute;
  return recipe.recompute.mode;
}

/// The part of a layer's intermediate results that is kept.
double kept(const Recipe& recipe, RecomputeMode mode) {
  switch (mode) {
    case RecomputeMode::none:
      return 1;
    case RecomputeMode::selective:
      return 0.5;
    case RecomputeMode::budget:
      return recipe.recompute.budget;
    case RecomputeMode::full:
      return 0;
  }
  return 1;
}

/// Micro-batches whose activations the first stage holds at once.
double under_way(const Recipe& recipe) {
  const auto pp = static_cast<double>(recipe.parallelism.pp);
  const auto all = static_cast<double>(recipe.micro_batches());
  if (pp == 1) return 1;
  switch (recipe.parallelism.pp_schedule) {
    case PipelineSchedule::gpipe:
      return all;
    case PipelineSchedule::zero_bubble:
      if (recipe.parallelism.zero_bubble_limit > 0)
        return std::min(static_cast<double>(recipe.parallelism.zero_bubble_limit), all);
      break;
    case PipelineSchedule::one_f_one_b:
    case PipelineSchedule::interleaved:
      break;
  }
  return std::min(pp, all);
}

/// The part of the layers' intermediate results that is kept. One stage's part counts for all.
double kept_by_layers(const Recipe& recipe) {
  double sum = 0;
  for (int64_t i = 0; i < recipe.model.n_layers; ++i) sum += kept(recipe, mode_of(recipe, i));
  return sum / static_cast<double>(recipe.model.n_layers);
}

/// The arena is as large as the larger of two moments: when backward begins, with all that forward
/// has left and the logits; and when it ends, with all gradients, which stay until their norm is
/// known.
Needs needs_of_stage(const Recipe& recipe, const recipe::Mesh& mesh, const Stage& stage,
                     const Buckets& buckets) {
  const int64_t element = recipe::bytes_of(recipe.precision.param);
  const bool once = recipe.micro_batches() > 1;
  Needs needs;
  needs.states = stage.states;
  if (recipe.checkpoint.enabled) needs.staging = stage.stored;

  const bool stays = recipe.wrapping.reshard_after_forward == 0 || once ||
                     recipe.wrapping.mode == recipe::WrappingMode::automatic;
  if (mesh.size(recipe::kSharing) > 1 || recipe.precision.param != recipe::Precision::fp32)
    needs.gathered = stays ? stage.gathered : std::min(buckets.gathered, stage.gathered);
  needs.gathered +=
      std::min(buckets.elements, stage.whole) * recipe::bytes_of(recipe.precision.reduce);

  const int64_t tokens = recipe.micro_batch_size() * recipe.data.seq_len / recipe.parallelism.cp;
  const LayerBytes layer = layer_bytes(recipe, tokens);
  const double share = kept_by_layers(recipe);
  const double left =
      static_cast<double>(layer.input) + share * static_cast<double>(layer.all - layer.input);
  double begins = left * static_cast<double>(stage.layers) * under_way(recipe);
  if (stage.last) {
    const int64_t words = shard_rows(recipe.model.vocab_size, recipe.parallelism.tp);
    const int64_t of_chunk = tokens / recipe::loss_chunks(recipe);
    begins += static_cast<double>((of_chunk * words + tokens * 2 * recipe.model.dim) * element);
  }
  // A layer's own gradients, and the layer itself where it is computed again.
  const double of_backward = (1.5 - share) * static_cast<double>(layer.all);
  const double ends = static_cast<double>(kFloat * stage.shards + layer.input);
  needs.activations = static_cast<int64_t>(std::max(begins, ends) + of_backward);
  return needs;
}

}  // namespace

Needs needs_of(const Recipe& recipe) {
  const Layout layout(recipe);
  const Buckets buckets = two_buckets(recipe, layout);
  Needs most;
  for (const Stage& stage : stages_of(recipe, layout)) {
    const Needs needs = needs_of_stage(recipe, layout.mesh(), stage, buckets);
    if (needs.on_device() + needs.staging > most.on_device() + most.staging) most = needs;
  }
  return most;
}

}  // namespace heddle::holdings
