// The trace device: tensors that have a shape and a value number but no storage.
// Any LibTorch code that runs on them is written down, autograd included, instead of computed.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/graph/ir.h"

namespace heddle::graph {

/// The device on which a step is captured (the PrivateUse1 key).
inline const c10::Device kTraceDevice{c10::DeviceType::PrivateUse1, 0};

/// A tensor of the trace device: a meta tensor (sizes, strides, dtype) and its number in the graph.
class TraceTensorImpl final : public c10::TensorImpl {
 public:
  TraceTensorImpl(at::Tensor meta, ValueId value);

  const at::Tensor& meta() const { return meta_; }
  ValueId value() const { return value_; }
  /// After an operator has written to the tensor: the same tensor, a new value.
  void set_value(ValueId value) { value_ = value; }
  /// A view of another tensor: writing through it is refused.
  bool is_view() const { return is_view_; }
  void set_is_view() { is_view_ = true; }

  c10::intrusive_ptr<c10::TensorImpl> shallow_copy_and_detach(const c10::VariableVersion& version,
                                                              bool allow_change) const override;
  c10::intrusive_ptr<c10::TensorImpl> shallow_copy_and_detach(c10::VariableVersion&& version,
                                                              bool allow_change) const override;

 private:
  at::Tensor meta_;
  ValueId value_;
  bool is_view_ = false;
};

/// The implementation behind a tensor of the trace device, or nullptr for any other tensor.
TraceTensorImpl* trace_tensor(const at::Tensor& tensor);

/// Makes the trace device known to LibTorch (once a process; further calls do nothing).
void register_trace_device();

}  // namespace heddle::graph
