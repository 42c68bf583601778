#include "engine/parallel/exchange.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/split.h>
#include <torch/csrc/autograd/custom_function.h>

#include "engine/kernels/joined.h"
#include "engine/runtime/collectives.h"

namespace heddle::parallel {
namespace {

using at::Tensor;
using runtime::Tensors;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

Tensors contiguous(const Tensors& values) {
  Tensors all;
  for (const Tensor& value : values) all.push_back(value.contiguous());
  return all;
}

Tensors gathered(const Tensors& values, const Group& group) {
  std::vector<int64_t> rows;
  for (const Tensor& value : values) rows.push_back(value.size(0) * group.ranks);
  return runtime::wait(runtime::activation_gather(contiguous(values), rows, group.name));
}
Tensors scattered(const Tensors& values, const Group& group) {
  std::vector<int64_t> rows;
  for (const Tensor& value : values) rows.push_back(value.size(0) / group.ranks);
  return runtime::wait(runtime::activation_scatter(contiguous(values), rows, group.name));
}
Tensors summed(const Tensors& values, const Group& group) {
  return runtime::wait(runtime::activation_sum(contiguous(values), group.name));
}
Tensors exchanged(const Tensors& values, const Group& group) {
  return runtime::wait({runtime::activation_all_to_all(values.front().contiguous(), group.name)});
}
Tensors themselves(const Tensors& values, const Group&) {
  Tensors views;
  for (const Tensor& value : values) views.push_back(value.view_as(value));
  return views;
}

using Exchange = Tensors (*)(const Tensors&, const Group&);

// One exchange forward, another one backward.
template <Exchange forward_exchange, Exchange backward_exchange>
struct Both : torch::autograd::Function<Both<forward_exchange, backward_exchange>> {
  static variable_list forward(AutogradContext* context, at::TensorList values, int64_t ranks,
                               const std::string& group) {
    at::AutoDispatchBelowADInplaceOrView below;
    context->saved_data["ranks"] = ranks;
    context->saved_data["group"] = group;
    return forward_exchange(values.vec(), {ranks, group});
  }
  static variable_list backward(AutogradContext* context, variable_list grads) {
    const Group group{context->saved_data["ranks"].toInt(),
                      context->saved_data["group"].toStringRef()};
    variable_list all = backward_exchange(grads, group);
    all.insert(all.end(), 2, Tensor());  // of ranks and group
    return all;
  }
};

template <Exchange forward_exchange, Exchange backward_exchange>
Tensor both(const Tensor& x, const Group& group) {
  return Both<forward_exchange, backward_exchange>::apply(at::TensorList(x), group.ranks,
                                                          group.name)
      .front();
}

// Slicing's own gradient would fill a whole tensor for every slice.
struct SplitRows : torch::autograd::Function<SplitRows> {
  static variable_list forward(AutogradContext*, const Tensor& x, int64_t chunks) {
    at::AutoDispatchBelowADInplaceOrView below;
    return at::split(x, x.size(0) / chunks);
  }
  static variable_list backward(AutogradContext*, const variable_list& grads) {
    return {kernels::join(grads), {}};
  }
};

}  // namespace

Tensor gather_rows(const Tensor& x, const Group& group) {
  return both<gathered, scattered>(x, group);
}
std::pair<Tensor, Tensor> gather_rows(const Tensor& x, const Tensor& y, const Group& group) {
  const Tensors values{x, y};
  const Tensors results =
      Both<gathered, scattered>::apply(at::TensorList(values), group.ranks, group.name);
  return {results[0], results[1]};
}
Tensor scatter_rows(const Tensor& x, const Group& group) {
  return both<scattered, gathered>(x, group);
}
Tensor copy_to_all(const Tensor& x, const Group& group) {
  return both<themselves, summed>(x, group);
}
Tensor sum_over(const Tensor& x, const Group& group) { return both<summed, themselves>(x, group); }

Tensor exchange_parts(const Tensor& x, const Group& group) {
  return both<exchanged, exchanged>(x, group);
}

std::vector<Tensor> split_rows(const Tensor& x, int64_t chunks) {
  if (chunks == 1) return {x};
  return SplitRows::apply(x, chunks);
}

Tensor join_rows(const std::vector<Tensor>& chunks) {
  return chunks.size() == 1 ? chunks.front() : kernels::join(chunks);
}

}  // namespace heddle::parallel
