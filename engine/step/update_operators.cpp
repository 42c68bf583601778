#include "engine/step/update_operators.h"

#include <ATen/core/dispatch/Dispatcher.h>

namespace heddle::step {

using optim::Value;

optim::Value UpdateOperators::add(const at::Tensor& tensor) {
  tensors_.push_back(tensor);
  return Value(tensors_.size() - 1);
}

std::vector<Value> UpdateOperators::call(const std::string& name,
                                         const std::vector<optim::Argument>& arguments) {
  torch::jit::Stack stack;
  for (const optim::Argument& argument : arguments) {
    if (const auto* value = std::get_if<Value>(&argument)) {
      stack.emplace_back(tensor(*value));
    } else if (const auto* list = std::get_if<std::vector<Value>>(&argument)) {
      std::vector<at::Tensor> tensors;
      for (const Value each : *list) tensors.push_back(tensor(each));
      stack.emplace_back(std::move(tensors));
    } else if (const auto* number = std::get_if<double>(&argument)) {
      stack.emplace_back(*number);
    } else {
      stack.emplace_back(std::get<bool>(argument));
    }
  }
  c10::Dispatcher::singleton().findSchemaOrThrow(name.c_str(), "").callBoxed(stack);
  std::vector<Value> results;
  for (const c10::IValue& result : stack) {
    if (result.isTensor()) {
      results.push_back(add(result.toTensor()));
    } else {
      for (const at::Tensor& each : result.toTensorVector()) results.push_back(add(each));
    }
  }
  return results;
}

}  // namespace heddle::step
