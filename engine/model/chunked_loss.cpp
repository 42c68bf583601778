#include "engine/model/chunked_loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <torch/csrc/autograd/custom_function.h>

#include <vector>

#include "engine/graph/recorder.h"
#include "engine/kernels/joined.h"
#include "engine/kernels/operators.h"

namespace heddle::model {
namespace {

using at::Tensor;

struct ChunkedLoss : torch::autograd::Function<ChunkedLoss> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x,
                        const Tensor& weight, const Tensor& labels, const Tensor& token_count,
                        int64_t chunks) {
    at::AutoDispatchBelowADInplaceOrView below;
    const Tensor dloss = at::ones({}, token_count.options()) / token_count;
    const int64_t rows = x.size(0) / chunks;
    Tensor loss, dweight;
    std::vector<Tensor> dx;
    for (int64_t first = 0; first < x.size(0); first += rows) {
      const Tensor some = x.narrow(0, first, rows), of = labels.narrow(0, first, rows);
      const Tensor logits = some.mm(weight.t());
      Tensor dlogits;
      {
        const graph::ModuleScope scope("loss");
        const auto [sum, logsumexp] = kernels::cross_entropy_forward(logits, of);
        loss = loss.defined() ? loss + sum : sum;
        dlogits = kernels::cross_entropy_backward(dloss, logits, of, logsumexp);
      }
      dx.push_back(dlogits.mm(weight));
      dweight = dweight.defined() ? dweight.addmm_(dlogits.t(), some) : dlogits.t().mm(some);
    }
    context->saved_data["dx"] = kernels::join(dx);
    context->saved_data["dweight"] = dweight;
    return loss / token_count;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list&) {
    return {context->saved_data["dx"].toTensor(),
            context->saved_data["dweight"].toTensor(),
            {},
            {},
            {}};
  }
};

}  // namespace

Tensor chunked_loss(const Tensor& x, const Tensor& weight, const Tensor& labels,
                    const Tensor& token_count, int64_t chunks) {
  return ChunkedLoss::apply(x, weight, labels, token_count, chunks);
}

}  // namespace heddle::model
