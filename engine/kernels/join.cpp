// Tensors one after the other. A view in the table of operators: passes see to it that they are
// made side by side (passes/join.h), or put LibTorch's concatenation in its place.
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/cat.h>
#include <torch/csrc/autograd/custom_function.h>

#include "engine/graph/traits.h"
#include "engine/kernels/joined.h"
#include "engine/kernels/kernel.h"

namespace heddle::kernels {
namespace {

using at::Tensor;
using Signature = Tensor(at::TensorList);

Tensor joined(at::TensorList parts) { return at::cat(parts); }

struct Join : torch::autograd::Function<Join> {
  static Tensor forward(torch::autograd::AutogradContext* context, at::TensorList parts) {
    at::AutoDispatchBelowADInplaceOrView below;
    static const auto op = find<Signature>("heddle::join");
    std::vector<int64_t> rows;
    for (const Tensor& part : parts) rows.push_back(part.size(0));
    context->saved_data["rows"] = rows;
    return op.call(parts);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    torch::autograd::variable_list parts;
    int64_t first = 0;
    for (const int64_t rows : context->saved_data["rows"].toIntVector()) {
      parts.push_back(grads[0].narrow(0, first, rows));
      first += rows;
    }
    return parts;
  }
};

const graph::OperatorEntries entries = {{"heddle.join", {.role = graph::Role::view}}};

}  // namespace

TORCH_LIBRARY_FRAGMENT(heddle, library) { library.def("join(Tensor[] parts) -> Tensor"); }
TORCH_LIBRARY_IMPL(heddle, CPU, library) { library.impl("join", &joined); }
TORCH_LIBRARY_IMPL(heddle, CUDA, library) { library.impl("join", &joined); }
TORCH_LIBRARY_IMPL(heddle, Meta, library) { library.impl("join", &joined); }

Tensor join(const std::vector<Tensor>& parts) { return Join::apply(at::TensorList(parts)); }

}  // namespace heddle::kernels
