// Graph nodes to LibTorch operators.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <functional>
#include <optional>

#include "engine/graph/ir.h"
#include "engine/graph/name.h"

namespace heddle::graph {

/// The operator that a node names ("aten.add.Tensor"), or nullopt if there is none.
std::optional<c10::OperatorHandle> find_operator(Name node_name);

/// True if the schema's argument takes a tensor, an optional tensor or a list of them.
bool takes_tensors(const c10::Argument& argument);

/// True for an operator whose results are its arguments' memory seen in another way: "heddle.wait",
/// and views, `_unsafe_view` too, which its schema does not tell.
bool is_view(const c10::OperatorHandle& op);

/// A node's argument as an operator takes it: `tensor` gives the values', and constants that name a
/// device get `device`.
c10::IValue to_ivalue(const Arg& arg, const std::function<at::Tensor(ValueId)>& tensor,
                      c10::Device device);

}  // namespace heddle::graph
