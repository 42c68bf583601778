// Llama, written once: the same code runs eagerly, and is captured on the trace device.
// Shapes, of one rank: B sequences, S tokens each, T = B·S, H heads, K kv heads, D head dim, V
// vocabulary.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/holdings/state.h"
#include "engine/model/parameter.h"
#include "engine/parallel/context_parallel.h"
#include "engine/parallel/tensor_parallel.h"
#include "engine/recipe/float8.h"

namespace heddle::model {

struct LinearLayer {
  Parameter weight;               // [out, in]
  std::optional<Parameter> bias;  // [out]
};

struct Attention {
  LinearLayer wq, wk, wv;
  std::optional<Parameter> q_norm, k_norm;  // [D]
  LinearLayer wo;
};

struct FeedForward {
  LinearLayer w1, w3, w2;
};

struct Layer {
  Parameter attention_norm;
  Attention attention;
  Parameter ffn_norm;
  FeedForward feed_forward;
};

/// Makes the tensor of a state: zeros, on any device.
using MakeState = std::function<at::Tensor(const holdings::State& state)>;

/// How a model is spread over ranks.
struct Parallelism {
  Sharding sharding;
  parallel::TensorParallel tensor;
  parallel::ContextParallel context;
};

/// A micro-batch's inputs of a rank.
struct Batch {
  at::Tensor tokens, labels, positions;  // int64 [B, S]
  at::Tensor vocabulary_begin;           // int64, no dimension: see parallel/vocabulary.h
  parallel::Context context;             // with context parallelism, or documents apart
};

class Llama {
 public:
  /// `parameters`: the table. `rope_table` as `make_rope_table` gives it, on the device of the
  /// shards, which `make_state` makes.
  Llama(const recipe::Model& shape, Parallelism parallelism, recipe::Float8Layers float8,
        const std::vector<holdings::Parameter>& parameters, at::Tensor rope_table,
        const MakeState& make_state);

  /// The output projection's input, [T, dim], and the weight that it multiplies with.
  struct Hidden {
    at::Tensor rows;
    Weight weight;
  };
  Hidden forward(const Batch& batch);

  /// Logits [T, V], with tensor parallelism this rank's columns of them.
  at::Tensor logits(Hidden hidden) const;

  /// The sum over tokens of −log p(label): 0-dim fp32, the same on all tensor-parallel ranks.
  at::Tensor loss(const at::Tensor& logits, const Batch& batch) const;

  /// The same divided by token_count, without all logits at one time, and its gradients with it:
  /// see chunked_loss.h. Without tensor parallelism, and not in 8 bits.
  at::Tensor loss_in_chunks(const Hidden& hidden, const Batch& batch, const at::Tensor& token_count,
                            int64_t chunks) const;

  /// All parameters in the order in which forward reads them.
  std::vector<Parameter*> parameters();

  /// How often `forward` has run in this process.
  int64_t forward_calls() const { return forward_calls_; }

 private:
  at::Tensor embed(const Batch& batch);
  at::Tensor attend(Attention& attention, const at::Tensor& x, const Batch& batch);
  at::Tensor feed_forward(FeedForward& ffn, const at::Tensor& x);

  recipe::Model shape_;
  Parallelism parallelism_;
  recipe::Float8Layers float8_;
  at::Tensor rope_table_;
  Parameter tok_embeddings_;
  std::vector<Layer> layers_;
  Parameter norm_;
  std::optional<Parameter> output_;  // none: the embedding is read again
  int64_t forward_calls_ = 0;
};

}  // namespace heddle::model
