#include "engine/model/linear.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/mm.h>
#include <torch/csrc/autograd/custom_function.h>

#include "engine/kernels/operators.h"

namespace heddle::model {
namespace {

using at::Tensor;

struct LinearFunction : torch::autograd::Function<LinearFunction> {
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
    // Nobody else reads the next layer's result: it may be written to.
    return {grads[1].defined() ? grads[1].addmm_(dy, weight) : dy.mm(weight), dweight};
  }
};

// The inner dimension of each product is the rows' length: x·Wᵀ, dy·(Wᵀ)ᵀ, dyᵀ·(xᵀ)ᵀ.
struct Float8Linear : torch::autograd::Function<Float8Linear> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context,
                                                const Tensor& x, const Tensor& leaf,
                                                const Weight& weight, bool by_row) {
    at::AutoDispatchBelowADInplaceOrView below;
    const bool gathered = weight.is_in_8_bits();
    context->save_for_backward(
        {x, gathered ? weight.gathered.values : leaf, weight.gathered.inverse_scale});
    context->saved_data["by_row"] = by_row;
    context->set_materialize_grads(false);
    const auto of = [&](const Tensor& matrix) {
      return kernels::float8_quantize(matrix, at::kFloat8_e4m3fn, by_row, false);
    };
    return {kernels::float8_mm(of(x), gathered ? weight.gathered : of(leaf), true), x};
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    const auto saved = context->get_saved_variables();
    const Tensor &dy = grads[0], &x = saved[0], &weight = saved[1], &inverse_scale = saved[2];
    const bool by_row = context->saved_data["by_row"].toBool();
    const auto of_gradient = by_row ? at::kFloat8_e4m3fn : at::kFloat8_e5m2;
    const auto quantized = [&](const Tensor& matrix, at::ScalarType type, bool transposed) {
      return kernels::float8_quantize(matrix, type, by_row, transposed);
    };
    const Tensor dweight = kernels::float8_mm(quantized(dy, of_gradient, true),
                                              quantized(x, at::kFloat8_e4m3fn, true), false);
    const kernels::Float8Matrix turned = inverse_scale.defined()
                                             ? kernels::float8_transpose({weight, inverse_scale})
                                             : quantized(weight, at::kFloat8_e4m3fn, true);
    const Tensor dx = kernels::float8_mm(quantized(dy, of_gradient, false), turned, false);
    return {grads[1].defined() ? grads[1] + dx : dx, dweight, Tensor(), Tensor()};
  }
};

}  // namespace

Tensor linear(Tensor& x, const Weight& weight, recipe::Float8 float8) {
  const auto results =
      float8 == recipe::Float8::none
          ? LinearFunction::apply(x, weight.leaf)
          : Float8Linear::apply(x, weight.leaf, weight, float8 == recipe::Float8::rowwise);
  x = results[1];
  return results[0];
}

}  // namespace heddle::model
