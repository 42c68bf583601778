// Graph nodes to LibTorch operators.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>

#include "engine/graph/name.h"

namespace heddle::graph {

/// The operator that a node names ("aten.add.Tensor"), or nullopt if there is none.
std::optional<c10::OperatorHandle> find_operator(Name node_name);

/// True if the schema's argument takes a tensor, an optional tensor or a list of them.
bool takes_tensors(const c10::Argument& argument);

/// True for an operator whose results are its arguments' memory seen in another way: "heddle.wait",
/// and views, `_unsafe_view` too, which its schema does not tell.
bool is_view(const c10::OperatorHandle& op);

}  // namespace heddle::graph
