#include "engine/model/joined_linear.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/mm.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "engine/graph/recorder.h"
#include "engine/kernels/joined.h"
#include "engine/passes/memory.h"

namespace heddle::model {
namespace {

using at::Tensor;

// `whole` is the weights, one after the other. Their gradients are products of their own: each is
// cast, summed and scattered by itself.
struct Joined : torch::autograd::Function<Joined> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context,
                                                const Tensor& x, const Tensor& whole,
                                                at::TensorList weights) {
    at::AutoDispatchBelowADInplaceOrView below;
    std::vector<int64_t> rows;
    for (const Tensor& weight : weights) rows.push_back(weight.size(0));
    context->save_for_backward({x, whole});
    context->saved_data["rows"] = rows;
    context->set_materialize_grads(false);
    return {x.mm(whole.t()), x};
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    const auto saved = context->get_saved_variables();
    const Tensor &dy = grads[0], &x = saved[0], &whole = saved[1];
    torch::autograd::variable_list all(2);
    int64_t first = 0;
    for (const int64_t rows : context->saved_data["rows"].toIntVector()) {
      all.push_back(dy.narrow(1, first, rows).t().mm(x));
      first += rows;
    }
    all[0] = grads[1].defined() ? grads[1].addmm_(dy, whole) : dy.mm(whole);
    return all;
  }
};

}  // namespace

bool JoinedLinear::joins(const std::vector<NamedLayer>& layers,
                         const recipe::Float8Layers& float8) {
  return std::all_of(layers.begin(), layers.end(), [&](const NamedLayer& each) {
    const Parameter& weight = each.layer.weight;
    const Sharding& sharding = weight.sharding;
    const int64_t bytes = weight.shape[0] * weight.shape[1] *
                          static_cast<int64_t>(c10::elementSize(sharding.compute));
    return sharding.compute == at::kBFloat16 && weight.shape[0] % sharding.ranks == 0 &&
           bytes % passes::kGpuAlignment == 0 && float8.of(weight.module()) == recipe::Float8::none;
  });
}

JoinedLinear::JoinedLinear(const std::vector<NamedLayer>& layers) {
  std::vector<Tensor> biases;
  for (const auto& [name, layer] : layers) {
    const graph::ModuleScope scope(name);
    weights_.push_back(layer.weight.read());
    if (layer.bias) biases.push_back(layer.bias->read());
  }
  if (!biases.empty()) bias_ = kernels::join(biases);
  const at::NoGradGuard no_grad;
  whole_ = kernels::join(weights_);
}

Tensor JoinedLinear::operator()(Tensor& x) const {
  const auto results = Joined::apply(x, whole_, at::TensorList(weights_));
  x = results[1];
  return bias_.defined() ? results[0] + bias_ : results[0];
}

}  // namespace heddle::model
