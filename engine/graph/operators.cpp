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

std::optional<c10::OperatorHandle> find_operator(Op op) {
  // Asked for every node of graphs with hundreds of thousands of them.
  thread_local std::unordered_map<Op, c10::OperatorHandle> found;
  if (const auto known = found.find(op); known != found.end()) return known->second;
  auto handle = look_up(op.text());
  if (handle) found.emplace(op, *handle);
  return handle;
}

bool takes_tensors(const c10::Argument& argument) {
  const c10::TypePtr& type = argument.type();
  if (type->isSubtypeOf(*c10::OptionalType::ofTensor())) return true;
  if (const auto list = type->cast<c10::ListType>())
    return list->getElementType()->isSubtypeOf(*c10::OptionalType::ofTensor());
  return false;
}

bool is_default(const Arg& arg, const c10::Argument& declared) {
  if (!declared.default_value()) return false;
  if (const auto* use = std::get_if<Use>(&arg))
    return use->value == kNoValue && declared.default_value()->isNone();
  const auto* constant = std::get_if<c10::IValue>(&arg);
  return constant && !constant->isTensor() && *constant == *declared.default_value();
}

Args without_defaults(const c10::FunctionSchema& schema, std::vector<Arg> args) {
  while (!args.empty() && is_default(args.back(), schema.arguments()[args.size() - 1]))
    args.pop_back();
  return {std::make_move_iterator(args.begin()), std::make_move_iterator(args.end())};
}

namespace {

c10::IValue to_ivalue(const Arg& arg, const std::function<at::Tensor(ValueId)>& tensor,
                      c10::Device device) {
  if (const auto* use = std::get_if<Use>(&arg))
    return use->value == kNoValue ? c10::IValue() : c10::IValue(tensor(use->value));
  if (const auto* uses = std::get_if<Uses>(&arg)) {
    std::vector<at::Tensor> tensors;
    for (const Use& use : *uses)
      tensors.push_back(use.value == kNoValue ? at::Tensor() : tensor(use.value));
    return tensors;
  }
  const auto& constant = std::get<c10::IValue>(arg);
  return constant.isDevice() ? c10::IValue(device) : constant;
}

}  // namespace

torch::jit::Stack arguments_of(const Node& node, const c10::FunctionSchema& schema,
                               const std::function<at::Tensor(ValueId)>& tensor,
                               c10::Device device) {
  torch::jit::Stack arguments;
  for (const Arg& arg : node.args) arguments.push_back(to_ivalue(arg, tensor, device));
  for (size_t i = node.args.size(); i < schema.arguments().size(); ++i)
    arguments.push_back(*schema.arguments()[i].default_value());
  return arguments;
}

}  // namespace heddle::graph
