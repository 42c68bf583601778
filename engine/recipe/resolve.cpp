#include "engine/recipe/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "engine/recipe/limits.h"
#include "engine/recipe/loss_chunks.h"
#include "engine/recipe/schema.h"

namespace heddle::recipe {
namespace {

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
    checks.fault({"data.mix"}, "excludes data.text", "one of the two");
  if (text && !data.token_ids.empty()) {
    checks.fault({"data.token_ids"},
                 fmt::format("excludes data.{}", data.text.empty() ? "mix" : "text"),
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

void check_batch(Recipe& recipe, Checks& checks) {
  Training& t = recipe.training;
  if (!checks.sound({"training.local_batch", "training.global_batch"})) return;
  const int64_t ranks = recipe.data_parallel_ranks();
  const int64_t step = saturating_product(t.local_batch, ranks);
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
    check_cuts(recipe, checks);
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
