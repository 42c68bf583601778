#include "engine/parallel/vocabulary.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/bitwise_or.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/ge.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/masked_fill.h>
#include <torch/csrc/autograd/custom_function.h>

#include "engine/kernels/operators.h"
#include "engine/runtime/collectives.h"

namespace heddle::parallel {
namespace {

using at::Tensor;

struct CrossEntropy : torch::autograd::Function<CrossEntropy> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& logits,
                        const Tensor& labels, const Tensor& begin, int64_t vocabulary,
                        int64_t ranks, const std::string& group) {
    at::AutoDispatchBelowADInplaceOrView below;
    const Tensor mine = kernels::vocabulary_statistics(logits, labels, begin, vocabulary);
    const Tensor all =
        runtime::wait(runtime::activation_gather({mine}, {mine.size(0) * ranks}, group)).front();
    auto [loss, logsumexp] = kernels::joined_cross_entropy(all, labels);
    context->save_for_backward({logits, labels, begin, logsumexp});
    context->saved_data["vocabulary"] = vocabulary;
    return loss;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    const auto saved = context->get_saved_variables();
    return {
        kernels::vocabulary_cross_entropy_backward(grads[0], saved[0], saved[1], saved[2], saved[3],
                                                   context->saved_data["vocabulary"].toInt()),
        {},
        {},
        {},
        {},
        {}};
  }
};

}  // namespace

Tensor embedding_part(const Tensor& weight, const Tensor& tokens, const Tensor& begin) {
  const Tensor rows = tokens - begin;
  const Tensor foreign = rows.lt(0).bitwise_or(rows.ge(weight.size(0)));
  return at::embedding(weight, rows.masked_fill(foreign, 0)).masked_fill(foreign.unsqueeze(1), 0);
}

Tensor cross_entropy(const Tensor& logits, const Tensor& labels, const Tensor& begin,
                     int64_t vocabulary, const Group& group) {
  return CrossEntropy::apply(logits, labels, begin, vocabulary, group.ranks, group.name);
}

}  // namespace heddle::parallel
