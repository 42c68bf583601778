// Updates of optimizers as operators. All have one form,
//
//     NAME_(Tensor(a!)[] parameters, Tensor(b!)[] STATES, …, Tensor[] grads,
//           Tensor lr, Tensor step, Tensor factor, float or bool SETTING, …) -> ()
//
// with fp32 lists side by side, an element a parameter (shard), each in place. lr (fp64), step
// (int64, 1-based) and factor (fp32, multiplies the gradients; 0: nothing changes) have no
// dimension. Results do not depend on how lists are cut.
#pragma once

#include <ATen/core/stack.h>
#include <c10/util/SmallVector.h>

#include <string>
#include <vector>

#include "engine/kernels/kernel.h"

namespace heddle::kernels {

using Tensors = std::vector<at::Tensor>;

struct UpdateCall {
  std::vector<Tensors> written;  // parameters, then each state of theirs
  Tensors grads;
  at::Tensor lr, step, factor;
  std::vector<double> settings;

  const Tensors& parameters() const { return written.front(); }
};

/// Throws unless all lists are of one length, and their elements of one shape, fp32 and, where they
/// are written, contiguous.
inline void check_lists(const std::string& name, const UpdateCall& call) {
  for (const Tensors& list : call.written) {
    TORCH_CHECK(list.size() == call.grads.size(), name, " takes lists of one length, not ",
                list.size(), " and ", call.grads.size());
    for (size_t i = 0; i < list.size(); ++i) {
      TORCH_CHECK(list[i].sizes() == call.grads[i].sizes(), name,
                  " takes parameters, states and gradients of one shape, not ", list[i].sizes(),
                  " and ", call.grads[i].sizes());
      TORCH_CHECK(list[i].is_contiguous(), name, " takes contiguous parameters and states");
    }
  }
  const auto check_type = [&](const Tensors& list) {
    for (const at::Tensor& each : list)
      TORCH_CHECK(each.scalar_type() == at::kFloat, name, " takes fp32 tensors, not ",
                  each.scalar_type());
  };
  for (const Tensors& list : call.written) check_type(list);
  check_type(call.grads);
}

/// The arguments of a call, checked, taken from the stack.
inline UpdateCall take_update(const c10::OperatorHandle& op, torch::jit::Stack& stack) {
  const auto& arguments = op.schema().arguments();
  UpdateCall call;
  Tensors scalars;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const c10::IValue& value = torch::jit::peek(stack, i, arguments.size());
    const c10::AliasInfo* alias = arguments[i].alias_info();
    if (value.isTensor())
      scalars.push_back(value.toTensor());
    else if (!value.isList())
      call.settings.push_back(value.isBool() ? double(value.toBool()) : value.toDouble());
    else if (alias != nullptr && alias->isWrite())
      call.written.push_back(value.toTensorVector());
    else
      call.grads = value.toTensorVector();
  }
  torch::jit::drop(stack, arguments.size());
  call.lr = scalars.at(0);
  call.step = scalars.at(1);
  call.factor = scalars.at(2);
  check_lists(op.schema().name(), call);
  return call;
}

template <void (*Kernel)(const UpdateCall&)>
void run_boxed(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  Kernel(take_update(op, *stack));
}

/// A kernel as the dispatcher takes it.
template <void (*Kernel)(const UpdateCall&)>
torch::CppFunction update_kernel() {
  return torch::CppFunction::makeFromBoxedFunction<&run_boxed<Kernel>>();
}

/// The Meta kernel: an update makes nothing.
inline void check_alone(const UpdateCall&) {}

/// Calls `range(written, grad, n)` for ranges of all elements, on all threads: pointers to n floats
/// of a parameter and each state of it, and of its gradient.
template <typename Range>
void for_each_range(const UpdateCall& call, Range&& range) {
  for (size_t i = 0; i < call.grads.size(); ++i) {
    const at::Tensor grad = call.grads[i].contiguous();
    at::parallel_for(0, grad.numel(), kGrain, [&](int64_t begin, int64_t end) {
      c10::SmallVector<float*, 4> written;
      for (const Tensors& list : call.written)
        written.push_back(list[i].mutable_data_ptr<float>() + begin);
      range(written.data(), grad.const_data_ptr<float>() + begin, end - begin);
    });
  }
}

/// Calls an update by its name, as in "heddle::adamw_"; `written` as in UpdateCall.
void update_(const char* name, const std::vector<Tensors>& written, const Tensors& grads,
             const at::Tensor& lr, const at::Tensor& step, const at::Tensor& factor,
             const std::vector<c10::IValue>& settings);

}  // namespace heddle::kernels
