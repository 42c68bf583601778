// A Llama's modules and parameters by name and shape, known without building the model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/recipe/cut.h"
#include "engine/recipe/recipe.h"

namespace heddle::recipe {

/// One parameter: the `weight` of its module, or its `bias`.
struct Parameter {
  std::string module;          // "layers.3.attention.wq"
  std::vector<int64_t> shape;  // [out, in], [dim] for a norm, [out] for a bias
  bool is_bias = false;
  Cut cut = Cut::none;
  /// RoPE turns its rows, the two of a pair together.
  bool is_rotated = false;
  /// A norm of each head's queries or keys: tensor-parallel ranks have it whole, and each uses it
  /// on its own heads.
  bool is_of_heads = false;

  std::string name() const { return module + (is_bias ? ".bias" : ".weight"); }
  int64_t elements() const;
};

/// "layers.3.attention.wq" of "layers.3.attention.wq.weight", of its bias, and of their optimizer
/// states ("….weight.exp_avg"); a name without either as it is.
std::string_view module_of(std::string_view parameter);

/// Whether a state that is kept between steps is a parameter.
bool is_parameter(std::string_view state);

/// All parameters in the order in which forward reads them. With tied embeddings `output` has none.
std::vector<Parameter> parameters(const Model& model);

/// Forward's reads, in order: all parameters, and with tied embeddings the embedding's again
/// under the name of `output`.
std::vector<Parameter> reads(const Model& model);

/// Elements of all parameters; tied embeddings count once.
int64_t parameter_count(const Model& model);

/// Elements of one layer's parameters.
int64_t layer_parameter_count(const Model& model);

/// One of the customs of counting a model's FLOPs, that gives its MFU: one throughput reads
/// 18 % apart. None counts recomputation.
struct FlopsConvention {
  const char* words;
  /// Forward and backward FLOPs of one token.
  double (*flops_per_token)(const Model& model, int64_t seq_len);
};

/// Runs are reported by the first one: 6·(N − N_embedding) + full attention, which is
/// 6·layers·heads·(2·head_dim)·seq_len (TorchTitan, NeMo). A tied output matrix is counted: it is
/// multiplied with.
const std::vector<FlopsConvention>& flops_conventions();

/// By the first convention.
int64_t flops_per_token(const Model& model, int64_t seq_len);

/// The modules of a model, found by the names that `wrapping.buckets` and `override.modules` use.
class Modules {
 public:
  explicit Modules(const Model& model);

  /// Indices into `parameters()` of what a name covers: a module or all below it. "layers.0-15" and
  /// "layers.0-15.attention" are ranges. Empty: no such module (or, tied, `output`).
  std::vector<size_t> under(const std::string& name) const;
  bool contains(const std::string& name) const;
  const std::vector<Parameter>& parameters() const { return parameters_; }
  /// Every module name, parents first, layer 0 standing for all layers: for suggestions.
  const std::vector<std::string>& sample_names() const { return sample_names_; }

 private:
  std::vector<Parameter> parameters_;
  std::unordered_map<std::string, std::vector<size_t>> under_;
  std::vector<std::string> sample_names_;
};

/// A name under "layers": "layers.2-3.attention" is {"2-3", "attention"}.
struct InLayers {
  std::string_view layer;  // as it is written
  std::string_view rest;   // within the layer; empty: the layer itself
};
std::optional<InLayers> in_layers(std::string_view name);

/// The layer that a module is in: 3 for "layers.3" and "layers.3.attention.wq"; none for others.
std::optional<int64_t> layer_of(std::string_view module);
/// "layers.3"
std::string layer_name(int64_t layer);

/// "layers.2-3.attention" to {"layers.2.attention", "layers.3.attention"}; a name without a range
/// to itself; a range that runs backwards to nothing.
std::vector<std::string> expand_range(std::string_view name);

}  // namespace heddle::recipe
