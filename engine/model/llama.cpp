#include "engine/model/llama.h"

#include <ATen/ops/embedding.h>
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "engine/graph/recorder.h"
#include "engine/holdings/states.h"
#include "engine/kernels/joined.h"
#include "engine/kernels/operators.h"
#include "engine/model/chunked_loss.h"
#include "engine/model/joined_linear.h"
#include "engine/model/linear.h"
#include "engine/parallel/vocabulary.h"
#include "engine/recipe/modules.h"

namespace heddle::model {
namespace {

using at::Tensor;
using graph::ModuleScope;

// Where a layer's bias is added: to each product, or by whoever sums the ranks'
// parts of it.
enum class Bias : uint8_t { here, behind };

// A linear layer's parameters, read once for all the rows that it gets.
class Linear {
 public:
  Linear(const char* name, LinearLayer& layer, const recipe::Float8Layers& float8,
         Bias bias = Bias::here)
      : name_(name), float8_(float8.of(layer.weight.module())), bias_at_(bias) {
    const ModuleScope scope(name);
    weight_ = layer.weight.read_weight();
    if (layer.bias) bias_ = layer.bias->read();
  }
  // x [n, in] → [n, out]; see linear.h
  Tensor operator()(Tensor& x) const {
    const ModuleScope scope(name_);
    const Tensor product = linear(x, weight_, float8_);
    return bias_.defined() && bias_at_ == Bias::here ? product + bias_ : product;
  }
  // The sum over the ranks, with the bias that `operator()` has left out.
  Tensor completed(const Tensor& sum) const {
    const ModuleScope scope(name_);
    return bias_.defined() ? sum + bias_ : sum;
  }

 private:
  const char* name_;
  recipe::Float8 float8_;
  Bias bias_at_;
  Weight weight_;
  Tensor bias_;
};

// The norm of each head's queries or keys, where the model has one.
class HeadNorm {
 public:
  HeadNorm(const char* name, std::optional<Parameter>& weight, double eps)
      : name_(name), eps_(eps) {
    const ModuleScope scope(name);
    if (weight) weight_ = weight->read();
  }
  // x [n, heads · D] → [1, n, heads, D]
  Tensor operator()(const Tensor& x, int64_t d) const {
    const ModuleScope scope(name_);
    const std::vector<int64_t> heads = {1, x.size(0), -1, d};
    if (!weight_.defined()) return x.view(heads);
    return kernels::rms_norm(x.view({-1, d}), weight_, eps_).view(heads);
  }

 private:
  const char* name_;
  double eps_;
  Tensor weight_;
};

// The feed-forward's way in: silu(x·W1ᵀ) · x·W3ᵀ.
class Gate {
 public:
  Gate(FeedForward& ffn, const recipe::Float8Layers& float8) {
    const std::vector<NamedLayer> layers{{"w1", ffn.w1}, {"w3", ffn.w3}};
    if (JoinedLinear::joins(layers, float8)) {
      joined_.emplace(layers);
    } else {
      for (const auto& [name, layer] : layers) apart_.emplace_back(name, layer, float8);
    }
  }
  Tensor operator()(Tensor& x) const {
    if (joined_) return kernels::joined_swiglu((*joined_)(x));
    const Tensor gate = apart_[0](x), up = apart_[1](x);
    return kernels::swiglu(gate, up);
  }

 private:
  std::optional<JoinedLinear> joined_;
  std::vector<Linear> apart_;
};

// The way into attention: keys, values and queries, by one product where they
// need no norms of their own nor travel to other ranks.
class Heads {
 public:
  Heads(Attention& attention, const recipe::Float8Layers& float8, const recipe::Model& shape,
        bool travel)
      : d_(shape.head_size()), q_heads_(attention.wq.weight.shape[0] / d_) {
    const std::vector<NamedLayer> layers{
        {"wq", attention.wq}, {"wk", attention.wk}, {"wv", attention.wv}};
    if (!travel && !shape.qk_norm && JoinedLinear::joins(layers, float8)) {
      joined_.emplace(layers);
      return;
    }
    for (const auto& [name, layer] : layers) apart_.emplace_back(name, layer, float8);
    norms_.emplace_back("q_norm", attention.q_norm, shape.norm_eps);
    norms_.emplace_back("k_norm", attention.k_norm, shape.norm_eps);
  }
  // x [n, in] → keys, values, queries [n, heads, D], turned as their positions
  // [1, n] say.
  std::vector<Tensor> operator()(Tensor& x, const Tensor& table, const Tensor& positions) const {
    if (joined_) {
      const auto [q, k, v] = kernels::joined_rope((*joined_)(x), table, positions, q_heads_);
      return {k, v, q};
    }
    const auto heads = [&](const Tensor& rows) { return rows.view({x.size(0), -1, d_}); };
    // Keys and values first: where they travel, the queries are made meanwhile.
    const Tensor k = kernels::rope(norms_[1](apart_[1](x), d_), table, positions), v = apart_[2](x),
                 q = kernels::rope(norms_[0](apart_[0](x), d_), table, positions);
    return {heads(k), heads(v), heads(q)};
  }

 private:
  int64_t d_, q_heads_;
  std::optional<JoinedLinear> joined_;
  std::vector<Linear> apart_;    // wq, wk, wv
  std::vector<HeadNorm> norms_;  // of queries, of keys
};

Tensor norm(const char* name, Parameter& weight, const Tensor& x, double eps) {
  const ModuleScope scope(name);
  return kernels::rms_norm(x, weight.read(), eps);
}

}  // namespace

Llama::Llama(const recipe::Model& shape, Parallelism parallelism, recipe::Float8Layers float8,
             const std::vector<holdings::Parameter>& parameters, Tensor rope_table,
             const MakeState& make_state)
    : shape_(shape),
      parallelism_(std::move(parallelism)),
      float8_(std::move(float8)),
      rope_table_(std::move(rope_table)) {
  std::map<std::string, const holdings::Parameter*> rows;
  for (const holdings::Parameter& row : parameters) rows[row.name()] = &row;
  const auto some = [&](const std::string& name) -> std::optional<Parameter> {
    const auto found = rows.find(name);
    if (found == rows.end()) return std::nullopt;
    const holdings::Parameter& row = *found->second;
    return Parameter{.name = name,
                     .shape = row.local,
                     .shard = make_state(holdings::shard_of(row)),
                     .sharding = parallelism_.sharding,
                     .in_8_bits = row.eight_bits,
                     .reads = {}};
  };
  const auto weight = [&](const std::string& module) { return *some(module + ".weight"); };
  const auto linear_layer = [&](const std::string& module) {
    LinearLayer layer{weight(module), {}};
    layer.bias = some(module + ".bias");
    return layer;
  };
  tok_embeddings_ = weight("tok_embeddings");
  for (int64_t i = 0; i < shape.n_layers; ++i) {
    const std::string layer = recipe::layer_name(i);
    const std::string attention = layer + ".attention.", ffn = layer + ".feed_forward.";
    layers_.push_back(Layer{.attention_norm = weight(layer + ".attention_norm"),
                            .attention = {.wq = linear_layer(attention + "wq"),
                                          .wk = linear_layer(attention + "wk"),
                                          .wv = linear_layer(attention + "wv"),
                                          .q_norm = some(attention + "q_norm.weight"),
                                          .k_norm = some(attention + "k_norm.weight"),
                                          .wo = linear_layer(attention + "wo")},
                            .ffn_norm = weight(layer + ".ffn_norm"),
                            .feed_forward = {.w1 = linear_layer(ffn + "w1"),
                                             .w3 = linear_layer(ffn + "w3"),
                                             .w2 = linear_layer(ffn + "w2")}});
  }
  norm_ = weight("norm");
  output_ = some("output.weight");
}

std::vector<Parameter*> Llama::parameters() {
  std::vector<Parameter*> all;
  const auto add = [&](Parameter& parameter) { all.push_back(&parameter); };
  const auto add_some = [&](std::optional<Parameter>& parameter) {
    if (parameter) add(*parameter);
  };
  const auto add_layer = [&](LinearLayer& layer) {
    add(layer.weight);
    add_some(layer.bias);
  };
  add(tok_embeddings_);
  for (Layer& layer : layers_) {
    Attention& a = layer.attention;
    FeedForward& f = layer.feed_forward;
    add(layer.attention_norm);
    for (LinearLayer* each : {&a.wq, &a.wk, &a.wv}) add_layer(*each);
    add_some(a.q_norm);
    add_some(a.k_norm);
    add_layer(a.wo);
    add(layer.ffn_norm);
    for (LinearLayer* each : {&f.w1, &f.w3, &f.w2}) add_layer(*each);
  }
  add(norm_);
  add_some(output_);
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
  const int64_t b = batch.positions.size(0), s = batch.positions.size(1), d = shape_.head_size();
  const Heads read(attention, float8_, shape_, parallelism_.context.group.ranks > 1);
  const Tensor positions = batch.positions.view({1, -1});
  const auto heads = tp.enter(x, [&](Tensor rows, int64_t first) {
    const int64_t n = rows.size(0);
    return read(rows, rope_table_, n == b * s ? positions : positions.narrow(1, first, n));
  });
  const auto sequences = [&](const Tensor& rows) { return rows.view({b, s, -1, d}); };
  const Tensor mixed =
      parallelism_.context.attention(sequences(heads[2]), sequences(heads[0]), sequences(heads[1]),
                                     batch.context, 1.0 / std::sqrt(static_cast<double>(d)));
  const Linear wo("wo", attention.wo, float8_, Bias::behind);
  return wo.completed(tp.leave(mixed.view({b * s, -1}), [&](Tensor rows) { return wo(rows); }));
}

Tensor Llama::feed_forward(FeedForward& ffn, const Tensor& x) {
  const Gate gate(ffn, float8_);
  const Linear w2("w2", ffn.w2, float8_, Bias::behind);
  return w2.completed(parallelism_.tensor.pass(x, [&](Tensor rows) {
    Tensor hidden = gate(rows);
    return w2(hidden);
  }));
}

Llama::Hidden Llama::forward(const Batch& batch) {
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
  return {parallelism_.tensor.enter(x), (output_ ? *output_ : tok_embeddings_).read_weight()};
}

Tensor Llama::logits(Hidden hidden) const {
  const ModuleScope scope("output");
  return linear(hidden.rows, hidden.weight, float8_.of("output"));
}

Tensor Llama::loss_in_chunks(const Hidden& hidden, const Batch& batch, const Tensor& token_count,
                             int64_t chunks) const {
  const ModuleScope scope("output");
  return chunked_loss(hidden.rows, hidden.weight.leaf, batch.labels.reshape({-1}), token_count,
                      chunks);
}

Tensor Llama::loss(const Tensor& logits, const Batch& batch) const {
  const ModuleScope scope("loss");
  const Tensor labels = batch.labels.reshape({-1});
  const parallel::Group& ranks = parallelism_.tensor.group;
  if (ranks.ranks == 1) return kernels::cross_entropy(logits, labels);
  return parallel::cross_entropy(logits, labels, batch.vocabulary_begin, shape_.vocab_size, ranks);
}

}  // namespace heddle::model
