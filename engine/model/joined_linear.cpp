#include "engine/model/joined_linear.h"

#include <ATen/TensorOperators.h>

#include <algorithm>

#include "engine/graph/recorder.h"
#include "engine/kernels/joined.h"
#include "engine/model/linear.h"

namespace heddle::model {

bool JoinedLinear::joins(const std::vector<NamedLayer>& layers,
                         const recipe::Float8Layers& float8) {
  return std::all_of(layers.begin(), layers.end(), [&](const NamedLayer& each) {
    const Parameter& weight = each.layer.weight;
    const Sharding& sharding = weight.sharding;
    const bool is_made = sharding.ranks > 1 || sharding.compute != weight.shard.scalar_type();
    return is_made && weight.shape[0] % sharding.ranks == 0 &&
           float8.of(weight.module()) == recipe::Float8::none;
  });
}

JoinedLinear::JoinedLinear(const std::vector<NamedLayer>& layers) {
  std::vector<at::Tensor> weights, biases;
  for (const auto& [name, layer] : layers) {
    const graph::ModuleScope scope(name);
    weights.push_back(layer.weight.read());
    if (layer.bias) biases.push_back(layer.bias->read());
  }
  weight_ = kernels::join(weights);
  if (!biases.empty()) bias_ = kernels::join(biases);
}

at::Tensor JoinedLinear::operator()(at::Tensor& x) const {
  const at::Tensor product = linear(x, weight_);
  return bias_.defined() ? product + bias_ : product;
}

}  // namespace heddle::model
