#include "engine/recipe/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "engine/recipe/loss_chunks.h"
#include "engine/recipe/schema.h"

namespace heddle::recipe {
namespace {

/// a·b, or the largest number if that is more.
int64_t times(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

void check_model(Recipe& recipe, Checks& checks) {
  Model& m = recipe.model;
  if (m.dim == 0 && m.n_layers == 0 && m.n_heads == 0 && m.ffn_dim == 0) {
    if (checks.sound({"model.preset", "model.dim", "model.checkpoint"})) {
      checks.fault({"model.preset"}, "no model is named",
                   "a preset, or dim, n_layers, n_heads and ffn_dim, or a checkpoint");
    }
    return;
  }
  const auto need = [&](const char* key, int64_t value) {
    if (value != 0 || !checks.sound({key})) return;
    checks.fault({key}, "is missing", "1 or more, or a model.preset");
  };
  need("model.dim", m.dim);
  need("model.n_layers", m.n_layers);
  need("model.n_heads", m.n_heads);
  need("model.ffn_dim", m.ffn_dim);
  if (m.n_kv_heads == 0) m.n_kv_heads = m.n_heads;
  if (m.dim == 0 || m.n_heads == 0) return;
  if (m.head_dim * m.n_heads == m.dim) m.head_dim = 0;  // one way to say it
  if (m.head_dim > 0) {
    if (m.head_dim % 2 != 0)
      checks.fault({"model.head_dim"}, fmt::format("{} is odd", m.head_dim),
                   "an even number, since RoPE rotates pairs");
  } else if (m.dim % m.n_heads != 0) {
    checks.fault({"model.n_heads", "model.dim"},
                 fmt::format("dim {} does not divide by {} heads", m.dim, m.n_heads),
                 "a divisor of dim, or model.head_dim");
  } else if (m.head_size() % 2 != 0) {
    checks.fault({"model.n_heads", "model.dim"},
                 fmt::format("dim {} / {} heads is {}, odd", m.dim, m.n_heads, m.head_size()),
                 "an even dim / n_heads, since RoPE rotates pairs");
  }
  if (m.n_heads % m.n_kv_heads != 0) {
    checks.fault({"model.n_kv_heads", "model.n_heads"},
                 fmt::format("{} heads do not divide by {} kv heads", m.n_heads, m.n_kv_heads),
                 "a divisor of n_heads");
  }
  if (m.attention_bias && m.qkv_bias) {
    checks.fault({"model.qkv_bias", "model.attention_bias"},
                 "attention_bias has the biases of queries, keys and values already",
                 "one of both");
  }
  const auto& scaling = m.rope_scaling;
  if (scaling && scaling->type == RopeType::yarn && scaling->beta_slow >= scaling->beta_fast) {
    checks.fault({"model.rope_scaling.beta_slow", "model.rope_scaling"},
                 "beta_slow is not below beta_fast", "as in 1.0 and 32.0");
  }
  if (scaling && scaling->type == RopeType::llama3 &&
      scaling->low_freq_factor >= scaling->high_freq_factor) {
    checks.fault({"model.rope_scaling.low_freq_factor", "model.rope_scaling"},
                 "low_freq_factor is not below high_freq_factor", "as in 1.0 and 4.0");
  }
}

void check_data(const Recipe& recipe, Checks& checks) {
  const Data& data = recipe.data;
  const bool text = !data.text.empty() || !data.mix.empty();
  if (!data.text.empty() && !data.mix.empty())
    checks.fault({"data.mix"}, "stands beside data.text", "one of the two");
  if (text && !data.token_ids.empty()) {
    checks.fault({"data.token_ids"},
                 fmt::format("stands beside data.{}", data.text.empty() ? "mix" : "text"),
                 "one of the two");
  } else if (!text && data.token_ids.empty() &&
             checks.sound({"data.text", "data.mix", "data.token_ids"})) {
    checks.fault({"data.text"}, "no data is named",
                 "data.text with data.tokenizer, or data.token_ids");
  }
  if (text && data.tokenizer.empty() && checks.sound({"data.tokenizer"})) {
    checks.fault({"data.tokenizer"}, "is missing: data.text needs one", "a tokenizer.json");
  }
  if (data.seq_len > recipe.model.max_seq_len) {
    checks.fault({"data.seq_len", "model.max_seq_len"},
                 fmt::format("{} is longer than model.max_seq_len {}", data.seq_len,
                             recipe.model.max_seq_len),
                 fmt::format("1 to {}", recipe.model.max_seq_len));
  }
  if (recipe.validation.tokens > 0 && data.tokenizer.empty())
    checks.fault({"validation.tokens"}, "generating text needs a tokenizer",
                 "0, or data.tokenizer");
  if (recipe.validation.tokens >= data.seq_len)
    checks.fault(
        {"validation.tokens", "data.seq_len"},
        fmt::format("{} tokens do not fit sequences of {}", recipe.validation.tokens, data.seq_len),
        fmt::format("0 to {}", data.seq_len - 1));
  if (!text && data.held_out > 0)
    checks.fault({"data.held_out"}, "of token ids nothing can be held out", "0");
  if (recipe.validation.every > 0 && recipe.validation.text.empty() && data.held_out == 0 &&
      checks.sound({"validation.text", "data.held_out"})) {
    checks.fault({"validation.every"}, "validation needs text",
                 "0, or validation.text, or data.held_out");
  }
}

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
    if ((axis.dim & dims) != 0) product = times(product, degrees.*axis.degree);
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

/// Fills the degree that takes the remaining ranks and checks that the degrees multiply to the
/// ranks. False if nothing can follow.
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
  if (p.tp > 1 && p.sequence_parallel && recipe.data.seq_len % times(p.tp, p.cp) != 0) {
    checks.fault({"parallelism.tp", "data.seq_len"},
                 fmt::format("sequences of {} do not divide by tp {} × cp {}", recipe.data.seq_len,
                             p.tp, p.cp),
                 "a divisor of data.seq_len, or sequence_parallel = false");
  }
  const int64_t tokens = recipe.data.seq_len / (p.sequence_parallel ? times(p.tp, p.cp) : p.cp);
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
  } else if (p.cp > 1 && recipe.data.seq_len % times(2, p.cp) != 0) {
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

void check_batch(Recipe& recipe, Checks& checks) {
  Training& t = recipe.training;
  if (!checks.sound({"training.local_batch", "training.global_batch"})) return;
  const int64_t ranks = recipe.data_parallel_ranks();
  const int64_t step = times(t.local_batch, ranks);
  if (t.global_batch == 0) {
    t.global_batch = step;
  } else if (t.global_batch % step != 0) {
    checks.fault({"training.global_batch"},
                 fmt::format("{} is no multiple of local_batch {} × {} data-parallel ranks = {}",
                             t.global_batch, t.local_batch, ranks, step),
                 fmt::format("0, or a multiple of {}", step));
  }
}

void check_schedule(const Recipe& recipe, Checks& checks) {
  const Schedule& s = recipe.schedule;
  const int64_t steps = recipe.training.steps;
  if (!checks.sound({"training.steps", "schedule.warmup_steps", "schedule.decay_ratio"})) return;
  const int64_t decay = std::llround(static_cast<double>(steps) * s.decay_ratio);
  if (s.warmup_steps > steps) {
    checks.fault({"schedule.warmup_steps", "training.steps"},
                 fmt::format("{} is more than the {} steps of training", s.warmup_steps, steps),
                 fmt::format("0 to {}", steps));
  } else if (s.decay != Decay::none && decay > steps - s.warmup_steps) {
    checks.fault({"schedule.decay_ratio"},
                 fmt::format("{} steps of decay do not fit in {} steps after {} of warm-up", decay,
                             steps, s.warmup_steps),
                 fmt::format("at most {} / {}", steps - s.warmup_steps, steps));
  }
}

// Which states are sharded says when parameters are gathered and gradients reduced. ZeRO-2 gathers
// once a step and reduces each micro-batch's gradients; ZeRO-1 sums whole gradients and reduces
// once (arXiv 1910.02054, section 5).
void check_shard_states(Recipe& recipe, const Parsed& parsed, Checks& checks) {
  const ShardStates states = recipe.parallelism.dp_shard_states;
  if (states == ShardStates::all) return;
  const std::string key = "parallelism.dp_shard_states", reshard = "wrapping.reshard_after_forward",
                    reduce = "wrapping.reduce_each";
  Wrapping& wrapping = recipe.wrapping;
  const bool of_gradients = states == ShardStates::gradients;
  const ReduceEach each = of_gradients ? ReduceEach::micro_batch : ReduceEach::step;
  const char* name = of_gradients ? "gradients" : "optimizer";
  if (wrapping.reshard_after_forward != 0 && parsed.places.contains(reshard))
    checks.fault({reshard, key}, fmt::format("{} = \"{}\" keeps parameters whole", key, name),
                 "false, or no such line");
  if (wrapping.reduce_each != ReduceEach::automatic && wrapping.reduce_each != each)
    checks.fault({reduce, key},
                 fmt::format("{} = \"{}\" reduces gradients once a {}", key, name,
                             of_gradients ? "micro-batch" : "step"),
                 of_gradients ? "micro-batch or auto" : "step or auto");
  wrapping.reshard_after_forward = 0;
  wrapping.reduce_each = each;
}

void check_reshard(const Recipe& recipe, Checks& checks) {
  const int64_t group = recipe.wrapping.reshard_after_forward;
  const int64_t shards = recipe.parallelism.dp_shard;
  if (group > 0 && shards % group != 0) {
    checks.fault({"wrapping.reshard_after_forward"},
                 fmt::format("groups of {} do not divide dp_shard {}", group, shards),
                 fmt::format("true | false | a divisor of {}", shards));
  }
}

// SHARP, of NVLink and InfiniBand, adds up within the switch, in an order that nobody fixes.
void check_deterministic(const Recipe& recipe, Checks& checks) {
  const std::string& algo = recipe.nccl.algo;
  if (!recipe.training.deterministic || !(algo.starts_with("nvls") || algo.starts_with("collnet")))
    return;
  checks.fault({"nccl.algo", "training.deterministic"},
               fmt::format("{} adds up within the switch in no fixed order, and the run is to give "
                           "the same bits each time",
                           algo),
               "another algorithm, or training.deterministic = false");
}

}  // namespace

Checks::Checks(Parsed& parsed) : parsed_(parsed) {}

void Checks::fault(const std::vector<std::string>& keys, std::string what, std::string valid,
                   std::string suggestion) {
  const auto written = std::ranges::find_if(
      keys, [&](const std::string& key) { return parsed_.places.contains(key); });
  const std::string& key = written == keys.end() ? keys.front() : *written;
  fault_at(key, key, std::move(what), std::move(valid), std::move(suggestion));
}

void Checks::fault_at(const std::string& place, const std::string& key, std::string what,
                      std::string valid, std::string suggestion) {
  // A missing key is reported at its section, and a missing section at the file's beginning.
  auto found = parsed_.places.find(place);
  if (found == parsed_.places.end()) found = parsed_.places.find(section_of(key));
  const Place at = found == parsed_.places.end() ? Place{parsed_.file, 1, 1} : found->second;
  parsed_.faults.push_back(
      {at.file, at.line, at.column, key, std::move(what), std::move(valid), std::move(suggestion)});
}

bool Checks::sound(const std::vector<std::string>& keys) const {
  return std::ranges::none_of(parsed_.faults, [&](const Fault& fault) {
    const bool syntax = fault.key.empty();
    return syntax || std::ranges::any_of(keys, [&](const std::string& key) {
             return fault.key == key || fault.key == section_of(key) || fault.suggestion == key;
           });
  });
}

Parsed resolve(const Parsed& parsed, int64_t ranks) {
  Parsed resolved = parsed;
  Recipe& recipe = resolved.recipe;
  if (ranks > 0) {
    recipe.hardware.ranks = ranks;
    resolved.places.erase("hardware.ranks");
  }
  Checks checks(resolved);
  check_model(recipe, checks);
  check_data(recipe, checks);
  check_optimizer(resolved, checks);
  check_schedule(recipe, checks);
  const bool has_mesh = check_mesh(recipe, checks);
  if (has_mesh) {
    check_tensor_and_context(recipe, checks);
    check_pipeline(recipe, checks);
    check_batch(recipe, checks);
    check_shard_states(recipe, parsed, checks);
    check_reshard(recipe, checks);
    check_loss_chunks(recipe, checks);
  }
  check_deterministic(recipe, checks);
  check_names(resolved, checks);
  if (has_mesh) check_float8(recipe, checks);
  std::ranges::stable_sort(resolved.faults, {}, [](const Fault& fault) {
    return std::tuple(fault.line == 0, fault.line, fault.column);
  });
  return resolved;
}

}  // namespace heddle::recipe
