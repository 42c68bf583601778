#include "engine/model/llama.h"

#include <ATen/ops/embedding.h>
#include <fmt/format.h>

#include <cmath>

#include "engine/graph/recorder.h"
#include "engine/kernels/operators.h"
#include "engine/model/linear.h"
#include "engine/parallel/vocabulary.h"
#include "engine/recipe/layout.h"

namespace heddle::model {
namespace {

using at::Tensor;
using graph::ModuleScope;

// A linear layer's weight [out, in], read once for all the rows that come to it.
class Linear {
 public:
  Linear(const char* name, Parameter& weight, const recipe::Float8Layers& float8)
      : name_(name), float8_(float8.of(weight.module())) {
    const ModuleScope scope(name);
    weight_ = weight.read();
  }
  // x [n, in] → [n, out]; see linear.h
  Tensor operator()(Tensor& x) const {
    const ModuleScope scope(name_);
    return linear(x, weight_, float8_);
  }

 private:
  const char* name_;
  recipe::Float8 float8_;
  Tensor weight_;
};

Tensor norm(const char* name, Parameter& weight, const Tensor& x, double eps) {
  const ModuleScope scope(name);
  return kernels::rms_norm(x, weight.read(), eps);
}

}  // namespace

Llama::Llama(const recipe::Model& shape, Parallelism parallelism, recipe::Float8Layers float8,
             Tensor rope_table, const MakeShard& make_shard)
    : shape_(shape),
      parallelism_(std::move(parallelism)),
      float8_(std::move(float8)),
      rope_table_(std::move(rope_table)) {
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
  const parallel::TensorParallel& tp = parallelism_.tensor;
  const int64_t b = batch.positions.size(0), s = batch.positions.size(1), d = shape_.head_dim();
  const Linear wk("wk", attention.wk, float8_), wv("wv", attention.wv, float8_),
      wq("wq", attention.wq, float8_);
  const Tensor positions = batch.positions.view({1, -1});
  // Keys and values first: where they travel, the queries are made meanwhile.
  const auto heads = tp.enter(x, [&](Tensor rows, int64_t first) -> std::vector<Tensor> {
    const int64_t n = rows.size(0);
    const Tensor at = n == b * s ? positions : positions.narrow(1, first, n);
    const Tensor k = kernels::rope(wk(rows).view({1, n, -1, d}), rope_table_, at);
    const Tensor v = wv(rows).view({n, -1, d});
    const Tensor q = kernels::rope(wq(rows).view({1, n, -1, d}), rope_table_, at);
    return {k.view({n, -1, d}), v, q.view({n, -1, d})};
  });
  const auto sequences = [&](const Tensor& rows) { return rows.view({b, s, -1, d}); };
  const Tensor mixed =
      parallelism_.context.attention(sequences(heads[2]), sequences(heads[0]), sequences(heads[1]),
                                     batch.context, 1.0 / std::sqrt(static_cast<double>(d)));
  const Linear wo("wo", attention.wo, float8_);
  return tp.leave(mixed.view({b * s, -1}), [&](Tensor rows) { return wo(rows); });
}

Tensor Llama::feed_forward(FeedForward& ffn, const Tensor& x) {
  const Linear w1("w1", ffn.w1, float8_), w3("w3", ffn.w3, float8_), w2("w2", ffn.w2, float8_);
  return parallelism_.tensor.pass(x, [&](Tensor rows) {
    const Tensor gate = w1(rows), up = w3(rows);
    Tensor hidden = kernels::swiglu(gate, up);
    return w2(hidden);
  });
}

Tensor Llama::forward(const Batch& batch) {
  ++forward_calls_;
  Tensor x = embed(batch);  // [T, dim], or this rank's rows of it
  for (size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = layers_[i];
    const ModuleScope layer_scope(fmt::format("layers.{}", i));
    const Tensor attention_input = norm("attention_norm", layer.attention_norm, x, shape_.norm_eps);
    {
      const ModuleScope scope("attention");
      x = x + attend(layer.attention, attention_input, batch);
    }
    const Tensor ffn_input = norm("ffn_norm", layer.ffn_norm, x, shape_.norm_eps);
    const ModuleScope scope("feed_forward");
    x = x + feed_forward(layer.feed_forward, ffn_input);
  }
  x = norm("norm", norm_, x, shape_.norm_eps);
  const ModuleScope scope("output");
  x = parallelism_.tensor.enter(x);
  return linear(x, (has_output() ? output_ : tok_embeddings_).read(), float8_.of("output"));
}

Tensor Llama::loss(const Tensor& logits, const Batch& batch) const {
  const ModuleScope scope("loss");
  const Tensor labels = batch.labels.reshape({-1});
  const parallel::Group& ranks = parallelism_.tensor.group;
  if (ranks.ranks == 1) return kernels::cross_entropy(logits, labels);
  return parallel::cross_entropy(logits, labels, batch.vocabulary_begin, shape_.vocab_size, ranks);
}

}  // namespace heddle::model
