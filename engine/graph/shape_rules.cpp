// Shape rules for the operators of LibTorch that have no C++ meta kernel of their own.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "engine/graph/trace_kernels.h"

namespace heddle::graph {
namespace {

at::Tensor embedding(const at::Tensor& weight, const at::Tensor& indices, c10::SymInt, bool, bool) {
  std::vector<int64_t> sizes = indices.sizes().vec();
  sizes.push_back(weight.size(1));
  return at::empty(sizes, weight.options());
}

at::Tensor embedding_dense_backward(const at::Tensor& gradient, const at::Tensor&,
                                    c10::SymInt num_weights, c10::SymInt, bool) {
  return at::empty({num_weights.expect_int(), gradient.size(-1)}, gradient.options());
}

}  // namespace

void register_shape_rules() {
  // Used or not, the pointer stays: what is reachable is no leak.
  [[gnu::used]] static torch::Library* library = [] {
    auto* rules = new torch::Library(torch::Library::IMPL, "aten", c10::DispatchKey::Meta, __FILE__,
                                     __LINE__);
    rules->impl("embedding", &embedding);
    rules->impl("embedding_dense_backward", &embedding_dense_backward);
    return rules;
  }();
}

}  // namespace heddle::graph
