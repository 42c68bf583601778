#include "engine/parallel/ring_attention.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/stack.h>
#include <torch/csrc/autograd/custom_function.h>

#include "engine/runtime/collectives.h"

namespace heddle::parallel {
namespace {

using at::Tensor;

// A value on its way from the rank before.
class Travelling {
 public:
  Travelling(const Tensor& value, const std::string& group)
      : pending_(runtime::activation_shift(value.contiguous(), group)) {}
  Tensor arrived() const { return runtime::wait({pending_}).front(); }

 private:
  Tensor pending_;
};

kernels::Keys keys_in_step(const Tensor& first, const Tensor& last, const Tensor& starts,
                           const Tensor& sight, int64_t step) {
  return {first, last, starts.select(0, step), sight.select(0, step)};
}

struct Ring : torch::autograd::Function<Ring> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& q, const Tensor& k,
                        const Tensor& v, const Tensor& first, const Tensor& last,
                        const Tensor& starts, const Tensor& sight, double scale, int64_t ranks,
                        const std::string& group) {
    at::AutoDispatchBelowADInplaceOrView below;
    Tensor keys = at::stack({k, v});  // [2, B, S, K, D], of the rank whose turn it is
    Tensor out, logsumexp;
    for (int64_t step = 0; step < ranks; ++step) {
      std::optional<Travelling> next;
      if (step + 1 < ranks) next.emplace(keys, group);
      auto [part, lse] =
          kernels::attention_part(q, keys.select(0, 0), keys.select(0, 1),
                                  keys_in_step(first, last, starts, sight, step), scale);
      if (step == 0) {
        out = part;
        logsumexp = lse;
      } else {
        std::tie(out, logsumexp) = kernels::merge_attention(out, logsumexp, part, lse);
      }
      if (next) keys = next->arrived();
    }
    context->save_for_backward({q, k, v, out, logsumexp, first, last, starts, sight});
    context->saved_data["scale"] = scale;
    context->saved_data["ranks"] = ranks;
    context->saved_data["group"] = group;
    return out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    const auto saved = context->get_saved_variables();
    const Tensor &q = saved[0], &out = saved[3], &logsumexp = saved[4];
    const double scale = context->saved_data["scale"].toDouble();
    const int64_t ranks = context->saved_data["ranks"].toInt();
    const std::string group = context->saved_data["group"].toStringRef();
    Tensor keys = at::stack({saved[1], saved[2]}), dq, dkeys;
    std::optional<Travelling> gradients;  // of the keys in hand, from the ranks before
    for (int64_t step = 0; step < ranks; ++step) {
      std::optional<Travelling> next;
      if (step + 1 < ranks) next.emplace(keys, group);
      auto [dq_part, dk, dv] = kernels::attention_part_backward(
          grads[0], q, keys.select(0, 0), keys.select(0, 1), out, logsumexp,
          keys_in_step(saved[5], saved[6], saved[7], saved[8], step), scale);
      dq = step == 0 ? dq_part : dq + dq_part;
      dkeys = at::stack({dk, dv});
      if (gradients) dkeys = gradients->arrived() + dkeys;
      gradients.emplace(dkeys, group);
      if (next) keys = next->arrived();
    }
    dkeys = gradients->arrived();
    return {dq, dkeys.select(0, 0), dkeys.select(0, 1), {}, {}, {}, {}, {}, {}, {}};
  }
};

}  // namespace

Tensor ring_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Context& context,
                      double scale, const Group& group) {
  return Ring::apply(q, k, v, context.first_key, context.last_key, context.key_starts,
                     context.sight, scale, group.ranks, group.name);
}

}  // namespace heddle::parallel
