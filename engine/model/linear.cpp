#include "engine/model/linear.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/mm.h>
#include <torch/csrc/autograd/custom_function.h>

namespace heddle::model {
namespace {

using at::Tensor;

struct Linear : torch::autograd::Function<Linear> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context,
                                                const Tensor& x, const Tensor& weight) {
    at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({x, weight});
    context->set_materialize_grads(false);
    return {x.mm(weight.t()), x};
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    const auto saved = context->get_saved_variables();
    const Tensor &dy = grads[0], &x = saved[0], &weight = saved[1];
    const Tensor dweight = dy.t().mm(x);
    // What the next layer made is nobody else's: it may be written to.
    return {grads[1].defined() ? grads[1].addmm_(dy, weight) : dy.mm(weight), dweight};
  }
};

}  // namespace

Tensor linear(Tensor& x, const Tensor& weight) {
  const auto results = Linear::apply(x, weight);
  x = results[1];
  return results[0];
}

}  // namespace heddle::model
