// Which keys of [model] the weights of a checkpoint settle, and which only say how to read them.
#pragma once

#include "engine/recipe/recipe.h"

namespace heddle::checkpoint {

/// Calls `visit(key, member)` for what the shapes and names of the weights depend on: with a
/// checkpoint these must be the checkpoint's.
template <typename Visit>
void each_size(Visit&& visit) {
  using recipe::Model;
  visit("model.dim", &Model::dim);
  visit("model.n_layers", &Model::n_layers);
  visit("model.n_heads", &Model::n_heads);
  visit("model.n_kv_heads", &Model::n_kv_heads);
  visit("model.head_dim", &Model::head_dim);
  visit("model.ffn_dim", &Model::ffn_dim);
  visit("model.vocab_size", &Model::vocab_size);
  visit("model.tied_embeddings", &Model::tied_embeddings);
  visit("model.attention_bias", &Model::attention_bias);
  visit("model.qkv_bias", &Model::qkv_bias);
  visit("model.mlp_bias", &Model::mlp_bias);
  visit("model.qk_norm", &Model::qk_norm);
}

/// The same for what the weights are read by: a recipe that writes these means another model of the
/// same weights.
template <typename Visit>
void each_reading(Visit&& visit) {
  using recipe::Model;
  visit("model.max_seq_len", &Model::max_seq_len);
  visit("model.norm_eps", &Model::norm_eps);
  visit("model.rope_theta", &Model::rope_theta);
  visit("model.rope_scaling", &Model::rope_scaling);
}

}  // namespace heddle::checkpoint
