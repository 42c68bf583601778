// Lowered to LibTorch's best kernel: flash attention for CPU. It needs as many kv heads as query
// heads, so that grouped kv heads are repeated before it and their gradients summed after it.
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "engine/kernels/kernel.h"
#include "engine/kernels/operators.h"

namespace heddle::kernels {
namespace {

using at::Tensor;
using Forward = std::tuple<Tensor, Tensor>(const Tensor&, const Tensor&, const Tensor&, double);
using Backward = std::tuple<Tensor, Tensor, Tensor>(const Tensor&, const Tensor&, const Tensor&,
                                                    const Tensor&, const Tensor&, const Tensor&,
                                                    double);

// [B, S, K, D] → [B, H, S, D], each kv head H / K times.
Tensor repeat_heads(const Tensor& x, int64_t heads) {
  const int64_t b = x.size(0), s = x.size(1), k = x.size(2), d = x.size(3);
  if (k == heads) return x.transpose(1, 2);
  return x.unsqueeze(3).expand({b, s, k, heads / k, d}).reshape({b, s, heads, d}).transpose(1, 2);
}

// [B, H, S, D] → [B, S, K, D], summed over each kv head's query heads.
Tensor sum_heads(const Tensor& grad, int64_t kv_heads) {
  const Tensor x = grad.transpose(1, 2);
  const int64_t b = x.size(0), s = x.size(1), h = x.size(2), d = x.size(3);
  if (h == kv_heads) return x.contiguous();
  return x.reshape({b, s, kv_heads, h / kv_heads, d}).sum(3);
}

std::tuple<Tensor, Tensor> forward_cpu(const Tensor& q, const Tensor& k, const Tensor& v,
                                       double scale) {
  const int64_t heads = q.size(2);
  auto [out, logsumexp] = at::_scaled_dot_product_flash_attention_for_cpu(
      q.transpose(1, 2), repeat_heads(k, heads), repeat_heads(v, heads), 0.0, true, {}, scale);
  return {out.transpose(1, 2).contiguous(), logsumexp};
}

std::tuple<Tensor, Tensor, Tensor> backward_cpu(const Tensor& dout, const Tensor& q,
                                                const Tensor& k, const Tensor& v, const Tensor& out,
                                                const Tensor& logsumexp, double scale) {
  const int64_t heads = q.size(2), kv_heads = k.size(2);
  auto [dq, dk, dv] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
      dout.transpose(1, 2), q.transpose(1, 2), repeat_heads(k, heads), repeat_heads(v, heads),
      out.transpose(1, 2), logsumexp, 0.0, true, {}, scale);
  return {dq.transpose(1, 2).contiguous(), sum_heads(dk, kv_heads), sum_heads(dv, kv_heads)};
}

std::tuple<Tensor, Tensor> forward_meta(const Tensor& q, const Tensor& k, const Tensor& v, double) {
  TORCH_CHECK(q.dim() == 4 && k.dim() == 4 && k.sizes() == v.sizes() && q.size(2) % k.size(2) == 0,
              "attention takes q [B, S, H, D] and k, v [B, S, K, D] with K dividing H, not ",
              q.sizes(), ", ", k.sizes(), " and ", v.sizes());
  return {
      at::empty_like(q, at::MemoryFormat::Contiguous),
      at::empty({q.size(0), q.size(1), q.size(2)}, q.options().dtype(at::kFloat)).transpose(1, 2)};
}

std::tuple<Tensor, Tensor, Tensor> backward_meta(const Tensor&, const Tensor& q, const Tensor& k,
                                                 const Tensor& v, const Tensor&, const Tensor&,
                                                 double) {
  constexpr auto contiguous = at::MemoryFormat::Contiguous;
  return {at::empty_like(q, contiguous), at::empty_like(k, contiguous),
          at::empty_like(v, contiguous)};
}

struct Attention : torch::autograd::Function<Attention> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& q, const Tensor& k,
                        const Tensor& v, double scale) {
    at::AutoDispatchBelowADInplaceOrView below;
    static const auto op = find<Forward>("heddle::attention");
    auto [out, logsumexp] = op.call(q, k, v, scale);
    context->save_for_backward({q, k, v, out, logsumexp});
    context->saved_data["scale"] = scale;
    return out;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    static const auto op = find<Backward>("heddle::attention_backward");
    const auto saved = context->get_saved_variables();
    auto [dq, dk, dv] = op.call(grads[0], saved[0], saved[1], saved[2], saved[3], saved[4],
                                context->saved_data["scale"].toDouble());
    return {dq, dk, dv, {}};
  }
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(heddle, library) {
  library.def("attention(Tensor q, Tensor k, Tensor v, float scale) -> (Tensor, Tensor)");
  library.def(
      "attention_backward(Tensor dout, Tensor q, Tensor k, Tensor v, Tensor out, Tensor logsumexp, "
      "float scale) -> (Tensor, Tensor, Tensor)");
}
TORCH_LIBRARY_IMPL(heddle, CPU, library) {
  library.impl("attention", &forward_cpu);
  library.impl("attention_backward", &backward_cpu);
}
TORCH_LIBRARY_IMPL(heddle, Meta, library) {
  library.impl("attention", &forward_meta);
  library.impl("attention_backward", &backward_meta);
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, double scale) {
  return Attention::apply(q, k, v, scale);
}

}  // namespace heddle::kernels
