// The recipe: everything that determines a training run, as plain data.
// Field names are the TOML keys (design: stable). Sizes are elements unless a unit is named.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/optim/key.h"
#include "engine/recipe/axes.h"

namespace heddle::recipe {

enum class RopeType { llama3, linear, yarn };

/// How rotary frequencies are scaled for sequences longer than in pre-training. llama3: Llama
/// 3.1's (λ < original/high keeps, λ > original/low divides); linear: all divided by the factor;
/// yarn: arXiv 2309.00071.
struct RopeScaling {
  RopeType type = RopeType::llama3;
  double factor = 8.0;
  double low_freq_factor = 1.0;          // llama3
  double high_freq_factor = 4.0;         // llama3
  int64_t original_max_position = 8192;  // llama3, yarn
  double beta_fast = 32.0;               // yarn: as many turns over the original and more keep
  double beta_slow = 1.0;                // yarn: as many and fewer divide
  double attention_factor = 0.0;         // yarn: of cos and sin; 0: 0.1·ln(factor) + 1
  bool truncate = true;                  // yarn: the range between them in whole pairs
  bool operator==(const RopeScaling&) const = default;
};

/// [model]. After `resolve` every number is final; `vocab_size` 0 means the tokenizer's.
struct Model {
  std::string preset;
  int64_t dim = 0;
  int64_t n_layers = 0;
  int64_t n_heads = 0;
  int64_t n_kv_heads = 0;  // 0: as many as heads (until `resolve`)
  int64_t head_dim = 0;    // 0: dim / n_heads; see head_size
  int64_t ffn_dim = 0;
  int64_t vocab_size = 0;
  int64_t max_seq_len = 131072;
  double norm_eps = 1e-5;
  double rope_theta = 500000.0;
  std::optional<RopeScaling> rope_scaling;
  bool tied_embeddings = false;
  bool attention_bias = false;  // of wq, wk, wv and wo
  bool qkv_bias = false;        // of wq, wk and wv alone (Qwen 2)
  bool mlp_bias = false;        // of w1, w3 and w2
  bool qk_norm = false;         // each head's queries and keys are normed before RoPE (Qwen 3)
  std::string checkpoint;

  /// Elements of each head.
  int64_t head_size() const { return head_dim > 0 ? head_dim : n_heads > 0 ? dim / n_heads : 0; }
  /// Whether wq, wk and wv add a bias.
  bool biases_qkv() const { return attention_bias || qkv_bias; }
  bool operator==(const Model&) const = default;
};

/// A part of data.mix: texts, and their share of the samples.
struct MixPart {
  std::vector<std::string> text;
  double weight = 1.0;
  bool operator==(const MixPart&) const = default;
};

/// [data]. `text` or `mix` with `tokenizer`, or `token_ids`.
struct Data {
  std::vector<std::string> text;
  std::vector<MixPart> mix;
  std::string token_ids;
  std::string tokenizer;
  std::string bos;             // the token before each document; empty: the tokenizer's; "none"
  std::string eos;             // the token after each document; likewise
  std::string cache;           // the folder of token stores; empty: this host's cache folder
  std::string field = "text";  // of a JSON document
  double skip_limit = 0.001;   // share of the documents that may be unreadable
  int64_t max_documents = 0;   // 0: all
  double held_out = 0.0;       // share of the documents that validation reads, not training
  int64_t seq_len = 512;
  bool document_mask = false;
  int64_t seed = 42;
  bool operator==(const Data&) const = default;
};

struct Training {
  int64_t steps = 100;
  int64_t local_batch = 2;
  int64_t global_batch = 0;
  int64_t loss_chunks = 0;  // 0: see loss_chunks.h
  double max_norm = 1.0;
  int64_t seed = 0;
  int64_t max_skipped = 10;    // steps in a row that are not finite before the run ends; 0: any
  bool deterministic = false;  // on GPUs, too: see engine/runtime/deterministic.h
  bool operator==(const Training&) const = default;
};

struct Validation {
  std::vector<std::string> text;
  int64_t every = 0;         // steps; 0: never
  int64_t batches = 16;      // at most so many global batches of the text; 0: all
  std::string prompt;        // what the samples of generated text begin with
  int64_t tokens = 0;        // to generate each time; 0: no samples
  double temperature = 0.8;  // of the second sample; the first takes the likeliest token
  bool operator==(const Validation&) const = default;
};

struct Optimizer {
  std::string name = "adamw";
  double lr = 3e-4;
  optim::Settings settings;  // keys that only some optimizers have (engine/optim), unless default
  double weight_decay = 0.1;
  bool operator==(const Optimizer&) const = default;
};

enum class Decay { linear, sqrt, cosine, none };

struct Schedule {
  int64_t warmup_steps = 0;
  Decay decay = Decay::linear;
  double decay_ratio = 0.0;
  double min_lr_factor = 0.0;
  bool operator==(const Schedule&) const = default;
};

enum class PipelineSchedule { gpipe, one_f_one_b, interleaved, zero_bubble };
enum class ContextMode { allgather, ring, ulysses };

/// The tensors that data-parallel ranks of `dp_shard` shard: parameters, gradients and optimizer
/// states (ZeRO-3), gradients and states (ZeRO-2), or states alone (ZeRO-1).
enum class ShardStates { all, gradients, optimizer };

/// [parallelism]: the degrees, and how ranks along the axes work together.
struct Parallelism : Degrees {
  ShardStates dp_shard_states = ShardStates::all;
  bool sequence_parallel = true;
  int64_t tp_chunks = 0;  // 0: 2 where the rows divide; see parallel/tensor_parallel.h
  bool async_tp = false;  // for planning
  bool tp_gather_again =
      true;  // backward gathers a linear layer's input again instead of keeping it
  PipelineSchedule pp_schedule = PipelineSchedule::one_f_one_b;
  int64_t microbatches = 0;
  int64_t zero_bubble_limit = 0;  // micro-batches held at once; 0: as 1F1B (ZB-H1)
  std::vector<int64_t> stage_layers;
  ContextMode cp_mode = ContextMode::allgather;
  bool operator==(const Parallelism&) const = default;
};

enum class WrappingMode { automatic, layers, manual, none };

/// When the gradients of several micro-batches are reduced: once a step, from whole sums; each
/// time, into sums of this rank's shards; or the first that fits wrapping.memory_limit.
enum class ReduceEach { automatic, step, micro_batch };

struct Wrapping {
  WrappingMode mode = WrappingMode::automatic;
  std::vector<std::vector<std::string>> buckets;
  /// true: dp_shard, false: 0, else the smaller group's size (kept as written).
  int64_t reshard_after_forward = -1;  // -1: true, 0: false, n > 0: a group of n ranks
  int64_t memory_limit = 0;            // bytes, 0: none
  ReduceEach reduce_each = ReduceEach::automatic;
  bool operator==(const Wrapping&) const = default;
};

enum class RecomputeMode { none, full, selective, budget };

struct Recompute {
  RecomputeMode mode = RecomputeMode::none;
  double budget = 0.5;
  bool operator==(const Recompute&) const = default;
};

enum class Precision { fp32, bf16 };
/// Linear layers in 8 bits with a scale a tensor or a row.
enum class Float8 { none, tensorwise, rowwise };

struct Precisions {
  Precision param = Precision::fp32;
  Precision reduce = Precision::fp32;
  Float8 float8 = Float8::none;
  std::vector<std::string> float8_except = {"output"};  // modules that stay in `param`
  bool operator==(const Precisions&) const = default;
};

/// [[override]]: exceptions by module. Of several that name one the first counts.
struct Override {
  std::vector<std::string> modules;        // or parameters: see parameter_kinds.h
  std::optional<RecomputeMode> recompute;  // of modules alone
  std::optional<double> lr;                // in place of optimizer.lr: the highest of the schedule
  std::optional<double> weight_decay;
  bool operator==(const Override&) const = default;
};

struct Checkpoint {
  bool enabled = true;
  std::string folder;  // empty: "checkpoints" in the run directory
  int64_t every = 0;
  int64_t keep = 3;
  bool operator==(const Checkpoint&) const = default;
};

/// [timeouts]: seconds that ranks may be silent before the run ends as hung.
struct Timeouts {
  double start = 600;       // from a rank's start to its first step
  double step = 0;          // 0: 20 times the expected step, at least a minute
  double checkpoint = 600;  // beyond a step that saves
  bool operator==(const Timeouts&) const = default;
};

/// [restart]: how often the supervisor starts the ranks again after one has failed.
struct Restart {
  int64_t times = 0;
  double backoff = 10;  // seconds before the first restart; doubled for each one after it
  bool operator==(const Restart&) const = default;
};

struct Telemetry {
  int64_t profile_every = 10;
  bool operator==(const Telemetry&) const = default;
};

/// [transport]: how ranks talk to each other.
struct Transport {
  std::string gpus = "nccl";  // nccl | host
  bool encrypt = false;
  bool operator==(const Transport&) const = default;
};

/// [nccl]: how NCCL is set, where GPUs talk by it; see engine/runtime/nccl_environment.h.
struct Nccl {
  std::string interface;       // of the network for NCCL's own start and its sockets; empty: chosen
  std::string hca;             // InfiniBand cards; empty: NCCL's choice
  std::string algo = "auto";   // auto | ring | tree | nvls | nvlstree | collnetdirect | …
  std::string proto = "auto";  // auto | simple | ll | ll128
  std::string p2p = "auto";    // auto | loc | nvl | pix | pxb | phb | sys
  std::string cta_policy = "auto";  // auto | default | efficiency | zero
  int64_t buffer = 0;               // bytes of a channel's buffer; 0: NCCL's choice
  std::string debug = "none";       // none | version | warn | info | trace
  bool operator==(const Nccl&) const = default;
};

struct Hardware {
  std::string name = "this-machine";
  int64_t ranks = 2;
  std::string device = "auto";  // auto | cpu | cuda
  bool overcommit = false;      // start even where memory or cores do not suffice
  bool operator==(const Hardware&) const = default;
};

/// One run's recipe. Paths are as written (relative to the recipe's file) until `resolve_paths`.
struct Recipe {
  Model model;
  Data data;
  Training training;
  Validation validation;
  Optimizer optimizer;
  Schedule schedule;
  Parallelism parallelism;
  Wrapping wrapping;
  Recompute recompute;
  Precisions precision;
  std::vector<Override> overrides;
  Checkpoint checkpoint;
  Timeouts timeouts;
  Restart restart;
  Telemetry telemetry;
  Transport transport;
  Nccl nccl;
  Hardware hardware;

  /// Ranks that hold different data: dp_replicate × dp_shard (after `resolve`).
  int64_t data_parallel_ranks() const { return parallelism.dp_replicate * parallelism.dp_shard; }
  /// Forward/backward passes of each data-parallel rank in one step (after `resolve`).
  int64_t accumulation() const {
    return training.global_batch / (training.local_batch * data_parallel_ranks());
  }
  /// Micro-batches of a data-parallel rank in one step, and sequences in each: a pipeline cuts
  /// local_batch into parts (after `resolve`).
  int64_t micro_batches() const {
    return accumulation() * (parallelism.pp > 1 ? parallelism.microbatches : 1);
  }
  int64_t micro_batch_size() const {
    return training.local_batch / (parallelism.pp > 1 ? parallelism.microbatches : 1);
  }
  bool operator==(const Recipe&) const = default;
};

}  // namespace heddle::recipe
