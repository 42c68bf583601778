#include "engine/graph/operators.h"

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

}  // namespace heddle::graph
