#include "engine/model/llama.h"

#include <ATen/ops/embedding.h>
#include <ATen/ops/mm.h>
#include <fmt/format.h>

#include <cmath>

#include "engine/graph/recorder.h"
#include "engine/kernels/operators.h"

namespace heddle::model {
namespace {

using at::Tensor;
using graph::ModuleScope;

// x [T, in] · weightᵀ [in, out] → [T, out]
Tensor linear(const char* name, Parameter& weight, const Tensor& x) {
  const ModuleScope scope(name);
  return x.mm(weight.read().t());
}

Tensor norm(const char* name, Parameter& weight, const Tensor& x, double eps) {
  const ModuleScope scope(name);
  return kernels::rms_norm(x, weight.read(), eps);
}

}  // namespace

Llama::Llama(const recipe::Model& shape, const Sharding& sharding, Tensor rope_table,
             const MakeShard& make_shard)
    : shape_(shape), rope_table_(std::move(rope_table)) {
  auto parameter = [&](std::string name, std::vector<int64_t> sizes) {
    std::vector<int64_t> shard_sizes = sizes;
    shard_sizes[0] = sharding.shard_rows(sizes[0]);
    name += ".weight";
    Tensor shard = make_shard(name, shard_sizes);
    return Parameter{std::move(name), std::move(sizes), std::move(shard), sharding, {}};
  };
  const int64_t dim = shape.dim, head_dim = shape.head_dim();
  tok_embeddings_ = parameter("tok_embeddings", {shape.vocab_size, dim});
  for (int64_t i = 0; i < shape.n_layers; ++i) {
    const std::string layer = fmt::format("layers.{}.", i);
    layers_.push_back(Layer{
        .attention_norm = parameter(layer + "attention_norm", {dim}),
        .attention = {.wq = parameter(layer + "attention.wq", {shape.n_heads * head_dim, dim}),
                      .wk = parameter(layer + "attention.wk", {shape.n_kv_heads * head_dim, dim}),
                      .wv = parameter(layer + "attention.wv", {shape.n_kv_heads * head_dim, dim}),
                      .wo = parameter(layer + "attention.wo", {dim, shape.n_heads * head_dim})},
        .ffn_norm = parameter(layer + "ffn_norm", {dim}),
        .feed_forward = {.w1 = parameter(layer + "feed_forward.w1", {shape.ffn_dim, dim}),
                         .w3 = parameter(layer + "feed_forward.w3", {shape.ffn_dim, dim}),
                         .w2 = parameter(layer + "feed_forward.w2", {dim, shape.ffn_dim})}});
  }
  norm_ = parameter("norm", {dim});
  if (!shape.tied_embeddings) output_ = parameter("output", {shape.vocab_size, dim});
}

std::vector<Parameter*> Llama::parameters() {
  std::vector<Parameter*> all{&tok_embeddings_};
  for (Layer& layer : layers_) {
    Attention& a = layer.attention;
    FeedForward& f = layer.feed_forward;
    all.insert(all.end(), {&layer.attention_norm, &a.wq, &a.wk, &a.wv, &a.wo, &layer.ffn_norm,
                           &f.w1, &f.w3, &f.w2});
  }
  all.push_back(&norm_);
  if (!shape_.tied_embeddings) all.push_back(&output_);
  return all;
}

Tensor Llama::attend(Attention& attention, const Tensor& x, const Tensor& positions) {
  const int64_t b = positions.size(0), s = positions.size(1), d = shape_.head_dim();
  const Tensor q = linear("wq", attention.wq, x).view({b, s, shape_.n_heads, d});
  const Tensor k = linear("wk", attention.wk, x).view({b, s, shape_.n_kv_heads, d});
  const Tensor v = linear("wv", attention.wv, x).view({b, s, shape_.n_kv_heads, d});
  const Tensor mixed = kernels::attention(kernels::rope(q, rope_table_, positions),
                                          kernels::rope(k, rope_table_, positions), v,
                                          1.0 / std::sqrt(static_cast<double>(d)));
  return linear("wo", attention.wo, mixed.view({b * s, shape_.n_heads * d}));
}

Tensor Llama::feed_forward(FeedForward& ffn, const Tensor& x) {
  return linear("w2", ffn.w2, kernels::swiglu(linear("w1", ffn.w1, x), linear("w3", ffn.w3, x)));
}

Tensor Llama::forward(const Tensor& tokens, const Tensor& positions) {
  ++forward_calls_;
  Tensor x;  // [T, dim]
  {
    const ModuleScope scope("tok_embeddings");
    x = at::embedding(tok_embeddings_.read(), tokens.reshape({-1}));
  }
  for (size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = layers_[i];
    const ModuleScope layer_scope(fmt::format("layers.{}", i));
    const Tensor attention_input = norm("attention_norm", layer.attention_norm, x, shape_.norm_eps);
    {
      const ModuleScope scope("attention");
      x = x + attend(layer.attention, attention_input, positions);
    }
    const Tensor ffn_input = norm("ffn_norm", layer.ffn_norm, x, shape_.norm_eps);
    const ModuleScope scope("feed_forward");
    x = x + feed_forward(layer.feed_forward, ffn_input);
  }
  x = norm("norm", norm_, x, shape_.norm_eps);
  return linear("output", shape_.tied_embeddings ? tok_embeddings_ : output_, x);
}

}  // namespace heddle::model
