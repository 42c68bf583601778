#include "engine/graph/infer.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>

#include "engine/graph/error_text.h"
#include "engine/graph/operators.h"
#include "engine/graph/trace_kernels.h"

namespace heddle::graph {
namespace {

at::Tensor without_storage(const Value& value) {
  const auto options = at::TensorOptions(value.dtype).device(c10::kMeta);
  return value.strides.empty() ? at::empty(value.sizes, options)
                               : at::empty_strided(value.sizes, value.strides, options);
}

Value described(const at::Tensor& tensor) {
  Value value;
  if (!tensor.defined()) return value;
  value.sizes = tensor.sizes();
  value.dtype = tensor.scalar_type();
  if (!tensor.is_contiguous()) value.strides = tensor.strides();
  return value;
}

}  // namespace

Result<std::vector<Value>> infer_results(const Graph& graph, const Node& node) try {
  register_shape_rules();
  const auto op = find_operator(node.op);
  if (!op) return fail("there is no operator \"{}\"", node.op);
  torch::jit::Stack stack = arguments_of(
      node, op->schema(), [&](ValueId id) { return without_storage(graph.values[id]); },
      c10::kMeta);
  {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    op->callBoxed(&stack);
  }
  std::vector<Value> results;
  for (size_t i = 0; i < stack.size(); ++i) {
    const c10::AliasInfo* alias = op->schema().returns()[i].alias_info();
    if (alias && alias->isWrite()) continue;
    if (stack[i].isTensor()) {
      results.push_back(described(stack[i].toTensor()));
    } else {
      for (const at::Tensor& each : stack[i].toTensorVector()) results.push_back(described(each));
    }
  }
  return results;
} catch (const std::exception& error) {
  return fail("{}: {}", node.op, error_text(error));
}

}  // namespace heddle::graph
