#include "engine/graph/operators.h"

#include <ATen/ops/scalar_tensor.h>

#include <unordered_map>

namespace heddle::graph {

namespace {

std::optional<c10::OperatorHandle> look_up(const std::string& node_name) {
  const size_t dot = node_name.find('.');
  if (dot == std::string::npos) return std::nullopt;
  const size_t second = node_name.find('.', dot + 1);
  const std::string name =
      node_name.substr(0, dot) + "::" + node_name.substr(dot + 1, second - dot - 1);
  const std::string overload = second == std::string::npos ? "" : node_name.substr(second + 1);
  return c10::Dispatcher::singleton().findSchema({name, overload});
}

}  // namespace

std::optional<c10::OperatorHandle> find_operator(Name node_name) {
  // Passes ask for every node of graphs with hundreds of thousands of them.
  thread_local std::unordered_map<Name, c10::OperatorHandle> found;
  if (const auto known = found.find(node_name); known != found.end()) return known->second;
  auto op = look_up(node_name);
  if (op) found.emplace(node_name, *op);
  return op;
}

bool is_view(const c10::OperatorHandle& op) {
  const std::string& name = op.operator_name().name;
  if (name == "heddle::wait" || name == "aten::_unsafe_view") return true;
  const auto& returns = op.schema().returns();
  return !returns.empty() && returns.front().alias_info() &&
         !returns.front().alias_info()->isWrite();
}

bool takes_tensors(const c10::Argument& argument) {
  const c10::TypePtr& type = argument.type();
  if (type->isSubtypeOf(*c10::OptionalType::ofTensor())) return true;
  if (const auto list = type->cast<c10::ListType>())
    return list->getElementType()->isSubtypeOf(*c10::OptionalType::ofTensor());
  return false;
}

c10::IValue to_ivalue(const Arg& arg, const std::function<at::Tensor(ValueId)>& tensor,
                      c10::Device device) {
  if (const auto* use = std::get_if<Use>(&arg))
    return use->value == kNoValue ? c10::IValue() : c10::IValue(tensor(use->value));
  if (const auto* uses = std::get_if<std::vector<Use>>(&arg)) {
    std::vector<at::Tensor> tensors;
    for (const Use& use : *uses)
      tensors.push_back(use.value == kNoValue ? at::Tensor() : tensor(use.value));
    return tensors;
  }
  if (const auto* scalar = std::get_if<ScalarTensor>(&arg)) {
    at::Tensor number =
        at::scalar_tensor(scalar->value.toScalar(), at::TensorOptions(scalar->dtype));
    number.unsafeGetTensorImpl()->set_wrapped_number(scalar->wrapped_number);
    return number;
  }
  const auto& constant = std::get<c10::IValue>(arg);
  return constant.isDevice() ? c10::IValue(device) : constant;
}

}  // namespace heddle::graph
