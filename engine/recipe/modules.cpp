#include "engine/recipe/modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

namespace heddle::recipe {
namespace {

// More layers than this in one range is a slip of the key, not a model.
constexpr int64_t kLongestRange = 100'000;

std::vector<Parameter> layer_parameters(const Model& m, const std::string& layer) {
  const int64_t head = m.head_size(), q_dim = m.n_heads * head, kv_dim = m.n_kv_heads * head;
  std::vector<Parameter> all;
  const auto norm = [&](const char* name) { all.push_back({layer + name, {m.dim}}); };
  const auto head_norm = [&](const char* name) {
    all.push_back(
        {.module = layer + name, .shape = {head}, .is_rotated = true, .is_of_heads = true});
  };
  const auto linear = [&](const char* name, int64_t out, int64_t in, Cut cut, bool has_bias,
                          bool rotates = false) {
    all.push_back({.module = layer + name, .shape = {out, in}, .cut = cut, .is_rotated = rotates});
    // The bias after a layer whose inputs are cut is added to the sum, which all ranks have.
    const Cut of_bias = cut == Cut::rows ? Cut::rows : Cut::none;
    if (has_bias)
      all.push_back({.module = layer + name,
                     .shape = {out},
                     .is_bias = true,
                     .cut = of_bias,
                     .is_rotated = rotates});
  };
  norm(".attention_norm");
  linear(".attention.wq", q_dim, m.dim, Cut::rows, m.biases_qkv(), true);
  linear(".attention.wk", kv_dim, m.dim, Cut::rows, m.biases_qkv(), true);
  linear(".attention.wv", kv_dim, m.dim, Cut::rows, m.biases_qkv());
  if (m.qk_norm) {
    head_norm(".attention.q_norm");
    head_norm(".attention.k_norm");
  }
  linear(".attention.wo", m.dim, q_dim, Cut::columns, m.attention_bias);
  norm(".ffn_norm");
  linear(".feed_forward.w1", m.ffn_dim, m.dim, Cut::rows, m.mlp_bias);
  linear(".feed_forward.w3", m.ffn_dim, m.dim, Cut::rows, m.mlp_bias);
  linear(".feed_forward.w2", m.dim, m.ffn_dim, Cut::columns, m.mlp_bias);
  return all;
}

int64_t elements_of(const std::vector<Parameter>& parameters) {
  return std::accumulate(parameters.begin(), parameters.end(), int64_t{0},
                         [](int64_t sum, const Parameter& p) { return sum + p.elements(); });
}

std::optional<int64_t> number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

int64_t Parameter::elements() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

std::string_view module_of(std::string_view parameter) {
  for (const std::string_view own : {".weight", ".bias"})
    if (const size_t at = parameter.find(own); at != std::string_view::npos)
      return parameter.substr(0, at);
  return parameter;
}

bool is_parameter(std::string_view state) {
  return state.ends_with(".weight") || state.ends_with(".bias");
}

std::vector<Parameter> parameters(const Model& model) {
  const auto over_words = [&](const char* module) {
    return Parameter{.module = module, .shape = {model.vocab_size, model.dim}, .cut = Cut::rows};
  };
  std::vector<Parameter> all = {over_words("tok_embeddings")};
  for (int64_t layer = 0; layer < model.n_layers; ++layer) {
    for (Parameter& parameter : layer_parameters(model, layer_name(layer))) {
      all.push_back(std::move(parameter));
    }
  }
  all.push_back({"norm", {model.dim}});
  if (!model.tied_embeddings) all.push_back(over_words("output"));
  return all;
}

std::vector<Parameter> reads(const Model& model) {
  Model apart = model;
  apart.tied_embeddings = false;
  return parameters(apart);
}

int64_t layer_parameter_count(const Model& model) {
  return elements_of(layer_parameters(model, ""));
}

int64_t parameter_count(const Model& model) {
  const int64_t matrices = model.tied_embeddings ? 1 : 2;
  return matrices * model.vocab_size * model.dim + model.n_layers * layer_parameter_count(model) +
         model.dim;
}

namespace {

// Sizes that a recipe may name, if no machine can hold them, go beyond 64 bits.
double matrices(const Model& model, bool embedding) {
  const bool looked_up = !embedding && !model.tied_embeddings;
  const auto left = parameter_count(model) - (looked_up ? model.vocab_size * model.dim : 0);
  return 6.0 * static_cast<double>(left);
}

double attention(const Model& model, int64_t seq_len) {
  return 6.0 * static_cast<double>(model.n_layers) *
         static_cast<double>(model.n_heads * 2 * model.head_size()) * static_cast<double>(seq_len);
}

}  // namespace

const std::vector<FlopsConvention>& flops_conventions() {
  static const std::vector<FlopsConvention> all = {
      {"6 N without the embedding, full attention (TorchTitan, NeMo)",
       [](const Model& model, int64_t seq_len) {
         return matrices(model, false) + attention(model, seq_len);
       }},
      {"6 N without the embedding, causal attention (Megatron-Bridge)",
       [](const Model& model, int64_t seq_len) {
         return matrices(model, false) + attention(model, seq_len) / 2;
       }},
      {"6 N with the embedding, full attention (TorchTitan of 2024)",
       [](const Model& model, int64_t seq_len) {
         return matrices(model, true) + attention(model, seq_len);
       }},
  };
  return all;
}

int64_t flops_per_token(const Model& model, int64_t seq_len) {
  constexpr auto kMax = static_cast<double>(std::numeric_limits<int64_t>::max());
  const double flops = flops_conventions().front().flops_per_token(model, seq_len);
  return flops >= kMax ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(flops);
}

Modules::Modules(const Model& model) : parameters_(recipe::parameters(model)) {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const std::string& module = parameters_[i].module;
    for (size_t dot = module.find('.');; dot = module.find('.', dot + 1)) {
      const std::string name = module.substr(0, dot);
      auto& indices = under_[name];
      const bool sample = layer_of(name).value_or(0) == 0;
      if (indices.empty() && sample) sample_names_.push_back(name);
      indices.push_back(i);
      if (dot == std::string::npos) break;
    }
  }
  under_["output"];  // with tied embeddings it is a module without a parameter
}

std::vector<size_t> Modules::under(const std::string& name) const {
  std::vector<size_t> result;
  for (const std::string& one : expand_range(name)) {
    const auto found = under_.find(one);
    if (found != under_.end()) {
      result.insert(result.end(), found->second.begin(), found->second.end());
    }
  }
  return result;
}

bool Modules::contains(const std::string& name) const {
  const std::vector<std::string> names = expand_range(name);
  for (const std::string& one : names) {
    if (!under_.contains(one)) return false;
  }
  return !names.empty();
}

std::optional<InLayers> in_layers(std::string_view name) {
  constexpr std::string_view kLayers = "layers.";
  if (!name.starts_with(kLayers)) return std::nullopt;
  name.remove_prefix(kLayers.size());
  const size_t end = std::min(name.find('.'), name.size());
  return InLayers{name.substr(0, end), name.substr(std::min(end + 1, name.size()))};
}

std::optional<int64_t> layer_of(std::string_view module) {
  const auto in = in_layers(module);
  return in ? number(in->layer) : std::nullopt;
}

std::string layer_name(int64_t layer) { return fmt::format("layers.{}", layer); }

std::vector<std::string> expand_range(std::string_view name) {
  const auto in = in_layers(name);
  const size_t dash = in ? in->layer.find('-') : std::string_view::npos;
  if (dash == std::string_view::npos) return {std::string(name)};
  const auto first = number(in->layer.substr(0, dash)), last = number(in->layer.substr(dash + 1));
  if (!first || !last || *last - *first > kLongestRange) return {};
  const auto rest = static_cast<size_t>(in->layer.data() + in->layer.size() - name.data());
  std::vector<std::string> result;
  for (int64_t layer = *first; layer <= *last; ++layer)
    result.push_back(layer_name(layer) + std::string(name.substr(rest)));
  return result;
}

}  // namespace heddle::recipe
