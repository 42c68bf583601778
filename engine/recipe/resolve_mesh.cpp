// Whether the degrees multiply to the ranks, and divide what they cut.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "engine/recipe/limits.h"
#include "engine/recipe/resolve.h"

namespace heddle::recipe {
namespace {

/// "8 or 16 ranks": the nearest that divide into parts of so many.
std::string nearest_ranks(int64_t ranks, int64_t parts) {
  const int64_t below = ranks / parts * parts;
  if (below == 0 || below > std::numeric_limits<int64_t>::max() - parts)
    return fmt::format("{} ranks", parts);
  return fmt::format("{} or {} ranks", below, below + parts);
}

/// "dp_replicate 2 × tp 4": as the recipe's keys are ordered.
std::string factors_text(const Degrees& degrees, Dims dims) {
  std::string text;
  for (const Axis* axis : kAxesAsWritten)
    if ((axis->dim & dims) != 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : " × ", axis->name, degrees.*axis->degree);
  return text;
}

int64_t product_of(const Degrees& degrees, Dims dims) {
  int64_t product = 1;
  for (const Axis& axis : kAxes)
    if ((axis.dim & dims) != 0) product = saturating_product(product, degrees.*axis.degree);
  return product;
}

/// The degrees above 1 of those that are `given`, cuts of the model before copies of it.
std::vector<std::string> keys_above_one(const Degrees& degrees, Dims given) {
  std::vector<std::string> keys;
  for (const Dims dims : {kWorld & ~kSamples, kSamples})
    for (const Axis* axis : kAxesAsWritten)
      if ((axis->dim & dims & given) != 0 && degrees.*axis->degree > 1) keys.push_back(axis->key());
  return keys;
}

void check_tensor_and_context(Recipe& recipe, Checks& checks) {
  Parallelism& p = recipe.parallelism;
  const Model& m = recipe.model;
  const auto divides = [&](int64_t value, const std::string& name) {
    if (value == 0 || value % p.tp == 0) return;
    checks.fault({"parallelism.tp"}, fmt::format("{} {} do not divide by tp {}", value, name, p.tp),
                 "a divisor of n_heads, n_kv_heads and ffn_dim");
  };
  divides(m.n_heads, "heads");
  if (m.n_kv_heads != m.n_heads) divides(m.n_kv_heads, "kv heads");
  divides(m.ffn_dim, "elements of ffn_dim");
  if (p.tp > 1 && p.sequence_parallel &&
      recipe.data.seq_len % saturating_product(p.tp, p.cp) != 0) {
    checks.fault({"parallelism.tp", "data.seq_len"},
                 fmt::format("sequences of {} do not divide by tp {} × cp {}", recipe.data.seq_len,
                             p.tp, p.cp),
                 "a divisor of data.seq_len, or sequence_parallel = false");
  }
  const int64_t tokens =
      recipe.data.seq_len / (p.sequence_parallel ? saturating_product(p.tp, p.cp) : p.cp);
  if (p.tp_chunks == 0) p.tp_chunks = p.tp > 1 && tokens % 2 == 0 ? 2 : 1;
  if (p.tp > 1 && tokens % p.tp_chunks != 0) {
    checks.fault({"parallelism.tp_chunks", "data.seq_len"},
                 fmt::format("the {} tokens that a rank has of a sequence do not divide into {} "
                             "chunks",
                             tokens, p.tp_chunks),
                 "a divisor of them, or 0: 2 where they divide");
  }
  if (p.cp > 1 && p.cp_mode == ContextMode::ulysses) {
    const int64_t heads = m.n_heads / p.tp;
    const int64_t kv_heads = m.n_kv_heads / p.tp;
    const bool kv_fits = kv_heads > 0 && (kv_heads % p.cp == 0 || p.cp % kv_heads == 0);
    if (m.n_heads != 0 && (heads % p.cp != 0 || !kv_fits)) {
      checks.fault({"parallelism.cp"},
                   fmt::format("ulysses cannot deal {} heads and {} kv heads to cp {}", heads,
                               kv_heads, p.cp),
                   "a divisor of the heads, and of the kv heads or a multiple of them");
    }
    if (recipe.data.seq_len % p.cp != 0) {
      checks.fault({"parallelism.cp", "data.seq_len"},
                   fmt::format("sequences of {} do not divide by cp {}", recipe.data.seq_len, p.cp),
                   "a divisor of data.seq_len");
    }
  } else if (p.cp > 1 && recipe.data.seq_len % saturating_product(2, p.cp) != 0) {
    checks.fault({"parallelism.cp", "data.seq_len"},
                 fmt::format("sequences of {} do not divide into 2 × cp {} chunks",
                             recipe.data.seq_len, p.cp),
                 "a divisor of data.seq_len / 2");
  }
}

void check_pipeline(Recipe& recipe, Checks& checks) {
  Parallelism& p = recipe.parallelism;
  const int64_t layers = recipe.model.n_layers;
  if (layers > 0 && p.pp > layers) {
    checks.fault({"parallelism.pp"}, fmt::format("{} stages for {} layers", p.pp, layers),
                 fmt::format("1 to {}", layers));
  }
  const auto stages = static_cast<int64_t>(p.stage_layers.size());
  if (!p.stage_layers.empty()) {
    const bool chunks = p.pp_schedule == PipelineSchedule::interleaved ||
                        p.pp_schedule == PipelineSchedule::zero_bubble;
    if (chunks ? stages % p.pp != 0 : stages != p.pp) {
      checks.fault({"parallelism.stage_layers"},
                   fmt::format("{} stages are given, pp is {}", stages, p.pp),
                   chunks ? "pp numbers or a multiple of it" : "pp numbers");
    }
    const int64_t sum = std::accumulate(p.stage_layers.begin(), p.stage_layers.end(), int64_t{0});
    if (layers > 0 && sum != layers) {
      checks.fault({"parallelism.stage_layers"},
                   fmt::format("{} layers in all, but the model has {}", sum, layers),
                   fmt::format("numbers whose sum is {}", layers));
    }
  }
  if (p.zero_bubble_limit > 0 && p.pp_schedule == PipelineSchedule::zero_bubble && stages > p.pp) {
    checks.fault({"parallelism.zero_bubble_limit", "parallelism.stage_layers"},
                 fmt::format("{} stages on {} ranks hold as many as 1F1B", stages, p.pp),
                 "0, or a stage a rank");
  }
  if (p.microbatches == 0) p.microbatches = p.pp;
  if (p.pp > 1 && recipe.training.local_batch % p.microbatches != 0) {
    checks.fault({"parallelism.microbatches", "training.local_batch", "parallelism.pp"},
                 fmt::format("local_batch {} does not divide into {} micro-batches",
                             recipe.training.local_batch, p.microbatches),
                 "a divisor of local_batch");
  }
}

}  // namespace

bool check_mesh(Recipe& recipe, Checks& checks) {
  constexpr Dims given = kWorld & ~kRest.dim;
  std::vector<std::string> keys = {kRest.key()};
  std::ranges::copy(keys_along(given), std::back_inserter(keys));
  keys.emplace_back("hardware.ranks");
  if (!checks.sound(keys)) return false;
  Parallelism& p = recipe.parallelism;
  const int64_t ranks = recipe.hardware.ranks;
  const int64_t others = product_of(p, given);
  if (p.*kRest.degree == -1) {
    if (ranks % others != 0) {
      checks.fault(
          keys_above_one(p, given),
          fmt::format("{} ranks do not divide by {} = {}", ranks, factors_text(p, given), others),
          fmt::format("{}, or degrees whose product divides {}", nearest_ranks(ranks, others),
                      ranks));
      return false;
    }
    p.*kRest.degree = ranks / others;
    return true;
  }
  const int64_t product = product_of(p, kWorld);
  if (product != ranks) {
    const std::string valid = ranks % others == 0
                                  ? fmt::format("{} = {} or -1", kRest.name, ranks / others)
                                  : fmt::format("degrees whose product is {}", ranks);
    checks.fault(keys,
                 fmt::format("{} = {}, but there {} {} rank{}", factors_text(p, kWorld), product,
                             ranks == 1 ? "is" : "are", ranks, ranks == 1 ? "" : "s"),
                 valid);
    return false;
  }
  return true;
}

void check_cuts(Recipe& recipe, Checks& checks) {
  check_tensor_and_context(recipe, checks);
  check_pipeline(recipe, checks);
}

}  // namespace heddle::recipe
