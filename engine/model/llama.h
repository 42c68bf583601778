// Llama, written once: the same code runs eagerly, and is captured on the trace device.
// Shapes: B sequences, S tokens each, T = B·S, H heads, K kv heads, D head dim, V vocabulary.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/model/parameter.h"
#include "engine/recipe/recipe.h"

namespace heddle::model {

struct Attention {
  Parameter wq, wk, wv, wo;
};

struct FeedForward {
  Parameter w1, w3, w2;
};

struct Layer {
  Parameter attention_norm;
  Attention attention;
  Parameter ffn_norm;
  FeedForward feed_forward;
};

/// Gives the shard of a parameter: its name and the shard's sizes → a tensor on any device.
using MakeShard =
    std::function<at::Tensor(const std::string& name, const std::vector<int64_t>& sizes)>;

class Llama {
 public:
  /// `rope_table` as `make_rope_table` gives it, on the device of the shards.
  Llama(const recipe::Model& shape, const Sharding& sharding, at::Tensor rope_table,
        const MakeShard& make_shard);

  /// tokens, positions int64 [B, S] → logits [T, V].
  at::Tensor forward(const at::Tensor& tokens, const at::Tensor& positions);

  /// All parameters in the order in which forward reads them.
  std::vector<Parameter*> parameters();

  /// How often `forward` has run in this process.
  int64_t forward_calls() const { return forward_calls_; }

 private:
  at::Tensor attend(Attention& attention, const at::Tensor& x, const at::Tensor& positions);
  at::Tensor feed_forward(FeedForward& ffn, const at::Tensor& x);

  recipe::Model shape_;
  at::Tensor rope_table_;
  Parameter tok_embeddings_;
  std::vector<Layer> layers_;
  Parameter norm_;
  Parameter output_;  // unused where embeddings are tied
  int64_t forward_calls_ = 0;
};

}  // namespace heddle::model
