#include "engine/model/llama.h"

#include <ATen/ops/embedding.h>
#include <ATen/ops/mm.h>
#include <fmt/format.h>

#include <cmath>

#include "engine/graph/recorder.h"
#include "engine/kernels/operators.h"
#include "engine/parallel/vocabulary.h"
#include "engine/recipe/layout.h"

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

Llama::Llama(const recipe::Model& shape, Parallelism parallelism, Tensor rope_table,
             const MakeShard& make_shard)
    : shape_(shape), parallelism_(std::move(parallelism)), rope_table_(std::move(rope_table)) {
  auto parameter = [&](std::string name, std::vector<int64_t> sizes) {
    const recipe::Cut cut = recipe::cut_of(name);
    sizes = recipe::local_shape(std::move(sizes), cut, parallelism_.tensor.group.ranks);
    std::vector<int64_t> shard_sizes = sizes;
    shard_sizes[0] = parallelism_.sharding.shard_rows(sizes[0]);
    name += ".weight";
    Tensor shard = make_shard(name, shard_sizes);
    return Parameter{std::move(name),  std::move(sizes),      cut != recipe::Cut::none,
                     std::move(shard), parallelism_.sharding, {}};
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
  if (has_output()) output_ = parameter("output", {shape.vocab_size, dim});
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
  if (has_output()) all.push_back(&output_);
  return all;
}

Tensor Llama::embed(const Batch& batch) {
  const ModuleScope scope("tok_embeddings");
  const parallel::TensorParallel& tp = parallelism_.tensor;
  const Tensor weight = tok_embeddings_.read(), tokens = batch.tokens.reshape({-1});
  if (tp.group.ranks == 1) return at::embedding(weight, tokens);
  return tp.leave(parallel::embedding_part(weight, tokens, batch.vocabulary_begin));
}

Tensor Llama::attend(Attention& attention, const Tensor& x, const Batch& batch) {
  const Tensor& positions = batch.positions;
  const int64_t b = positions.size(0), s = positions.size(1), d = shape_.head_dim();
  const auto heads = [&](const char* name, Parameter& weight) {
    return linear(name, weight, x).view({b, s, -1, d});
  };
  // Keys and values first: where they travel, the queries are made meanwhile.
  const Tensor k = kernels::rope(heads("wk", attention.wk), rope_table_, positions);
  const Tensor v = heads("wv", attention.wv);
  const Tensor q = kernels::rope(heads("wq", attention.wq), rope_table_, positions);
  const Tensor mixed = parallelism_.context.attention(q, k, v, batch.context,
                                                      1.0 / std::sqrt(static_cast<double>(d)));
  return linear("wo", attention.wo, mixed.view({b * s, -1}));
}

Tensor Llama::feed_forward(FeedForward& ffn, const Tensor& x) {
  return linear("w2", ffn.w2, kernels::swiglu(linear("w1", ffn.w1, x), linear("w3", ffn.w3, x)));
}

Tensor Llama::forward(const Batch& batch) {
  ++forward_calls_;
  const parallel::TensorParallel& tp = parallelism_.tensor;
  Tensor x = embed(batch);  // [T, dim], or this rank's rows of it
  for (size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = layers_[i];
    const ModuleScope layer_scope(fmt::format("layers.{}", i));
    const Tensor attention_input = norm("attention_norm", layer.attention_norm, x, shape_.norm_eps);
    {
      const ModuleScope scope("attention");
      x = x + tp.leave(attend(layer.attention, tp.enter(attention_input), batch));
    }
    const Tensor ffn_input = norm("ffn_norm", layer.ffn_norm, x, shape_.norm_eps);
    const ModuleScope scope("feed_forward");
    x = x + tp.leave(feed_forward(layer.feed_forward, tp.enter(ffn_input)));
  }
  x = norm("norm", norm_, x, shape_.norm_eps);
  const ModuleScope scope("output");
  return tp.enter(x).mm((has_output() ? output_ : tok_embeddings_).read().t());
}

Tensor Llama::loss(const Tensor& logits, const Batch& batch) const {
  const ModuleScope scope("loss");
  const Tensor labels = batch.labels.reshape({-1});
  const parallel::Group& ranks = parallelism_.tensor.group;
  if (ranks.ranks == 1) return kernels::cross_entropy(logits, labels);
  return parallel::cross_entropy(logits, labels, batch.vocabulary_begin, shape_.vocab_size, ranks);
}

}  // namespace heddle::model
